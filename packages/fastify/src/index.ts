export {
  type FastifyMountOptions,
  type FastifyReceiver,
  type FastifyReceiverTypes,
  type FastifyWebhooksOptions,
  webhooks,
  webhooksOf,
} from './webhooks.ts'

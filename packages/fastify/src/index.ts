export {
  type FastifyMountOptions,
  type FastifyReceiver,
  type FastifyWebhooksOptions,
  webhooks,
  webhooksOf,
} from './webhooks.ts'

export { type FastifyReceiver, type FastifyWebhooksOptions, webhooks } from './webhooks.ts'

export { type FastifyWebhooksOptions, webhooks } from './webhooks.ts'

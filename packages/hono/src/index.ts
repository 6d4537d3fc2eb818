export { type HonoWebhooks, webhooks, webhooksOf } from './webhooks.ts'

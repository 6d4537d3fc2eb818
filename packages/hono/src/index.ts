export { type HonoWebhooks, webhooks } from './webhooks.ts'

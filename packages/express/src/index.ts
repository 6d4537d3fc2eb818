export { captureRawBody } from '@ackhook/core/node'
export { type ExpressWebhooks, webhooks } from './webhooks.ts'

export { captureRawBody } from '@ackhook/core/node'
export { type ExpressWebhooks, webhooks, webhooksOf } from './webhooks.ts'

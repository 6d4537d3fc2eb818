export {
  OnWebhook,
  type OnWebhookOptions,
  type WebhookMethod,
  type WebhookMethodDecorator,
} from './on-webhook.ts'
export {
  type AsyncOptions,
  type Kept,
  type ModuleOptions,
  type NestContext,
  type NestReceiver,
  type NestReceiverTypes,
  receiverToken,
  type WebhookInvocation,
} from './options.ts'
export { WebhooksModule } from './webhooks-module.ts'

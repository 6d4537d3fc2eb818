export type {
  EventIdsBinding,
  EventIdsState,
  EventIdsStub,
  QueueBatch,
  QueueBinding,
  QueueMessage,
  StubReply,
} from './bindings.ts'
export { type CloudflareQueueInboxOptions, cloudflareQueueInbox } from './cloudflare-queue-inbox.ts'
export { type DurableObjectStoreOptions, durableObjectStore } from './durable-object-store.ts'
export { EventIds } from './event-ids.ts'
export { type QueueHandler, toQueueHandler } from './to-queue-handler.ts'

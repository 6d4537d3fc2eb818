/**
 * For inboxes whose engine calls the consumer: what is in a message, and what becomes of it. An entry of its own, so that
 * an application with another inbox does not load it.
 *
 * @module
 */
export type {
  Publication,
  PushEngine,
  PushMessage,
  PushOutcome,
} from './inbox/push/push-engine.ts'
export { createPushInbox, type PushInbox, type PushInboxParts } from './inbox/push/push-inbox.ts'

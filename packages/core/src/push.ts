/**
 * API for inboxes whose engine calls the consumer: messages and their outcomes. A separate entry point, so that an
 * application with another inbox does not load it.
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

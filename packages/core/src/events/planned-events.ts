/**
 * Provisional: the events that the platform has announced, by names that are **guesses** in the form
 * `<category>.<action>`. Only `conversation.resolved` is published. Names and data may differ in the end, and then a
 * handler for one of these never runs. An app that wants them in `on` adds them to its event types.
 *
 * @example
 * import type { PlannedEvents } from '@ackhook/core/planned-events'
 *
 * declare module '@ackhook/core' {
 *   interface EventMap extends PlannedEvents {}
 * }
 */
export interface PlannedEvents {
  /** Provisional, a guess: a message was sent. */
  'message.sent': PlannedData
  /** Provisional, a guess: a message was delivered. */
  'message.delivered': PlannedData
  /** Provisional, a guess: a message was read. */
  'message.read': PlannedData
  /** Provisional, a guess: a message failed. */
  'message.failed': PlannedData
  /** Provisional, a guess: an inbound message was received. */
  'message.received': PlannedData
  /** Provisional, a guess: a conversation was opened. */
  'conversation.opened': PlannedData
  /** Provisional, a guess: a conversation was assigned. */
  'conversation.assigned': PlannedData
  /** Provisional, a guess: a conversation was reopened. */
  'conversation.reopened': PlannedData
  /** Provisional, a guess: a call started. */
  'call.started': PlannedData
  /** Provisional, a guess: a call was answered. */
  'call.answered': PlannedData
  /** Provisional, a guess: a call was completed. */
  'call.completed': PlannedData
  /** Provisional, a guess: a call was missed. */
  'call.missed': PlannedData
  /** Provisional, a guess: a call was transferred to a human. */
  'call.transferred': PlannedData
  /** Provisional, a guess: a broadcast started. */
  'campaign.started': PlannedData
  /** Provisional, a guess: a broadcast was completed. */
  'campaign.completed': PlannedData
  /** Provisional, a guess: the outcome for one recipient of a broadcast. */
  'campaign.recipient_outcome': PlannedData
  /** Provisional, a guess: a contact was created. */
  'contact.created': PlannedData
  /** Provisional, a guess: a contact was updated. */
  'contact.updated': PlannedData
  /** Provisional, a guess: a contact opted in. */
  'contact.opted_in': PlannedData
  /** Provisional, a guess: a contact opted out. */
  'contact.opted_out': PlannedData
}

/** Provisional: nothing is published about the data of a planned event. */
export type PlannedData = Record<string, unknown>

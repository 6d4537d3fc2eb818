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
export interface PlannedEvents extends Record<PlannedType, PlannedData> {}

type PlannedType =
  | `message.${'sent' | 'delivered' | 'read' | 'failed' | 'received'}`
  | `conversation.${'opened' | 'assigned' | 'reopened'}`
  | `call.${'started' | 'answered' | 'completed' | 'missed' | 'transferred'}`
  | `campaign.${'started' | 'completed' | 'recipient_outcome'}`
  | `contact.${'created' | 'updated' | 'opted_in' | 'opted_out'}`

/** Provisional: nothing is published about the data of a planned event. */
export type PlannedData = Record<string, unknown>

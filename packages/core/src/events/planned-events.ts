/**
 * Provisional: events that the platform has announced, under **guessed** names in the form `<category>.<action>`. Only
 * `conversation.resolved` is published. The final names and data may differ, and a handler for a wrong guess never
 * runs. Add these to your event types to complete them in `on`.
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

/**
 * Only types: the names of the events that the platform plans. A guess throughout, so that nothing else of this package
 * imports it.
 *
 * @module
 */
export type { PlannedData, PlannedEvents } from './events/planned-events.ts'

/**
 * Types only: names of the events that the platform plans. All of them are guesses, so nothing else in this package
 * imports this module.
 *
 * @module
 */
export type { PlannedData, PlannedEvents } from './events/planned-events.ts'

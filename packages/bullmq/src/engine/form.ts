/**
 * Number of the form of all that this package stores. A change of it raises the number, and `refuseEarlier` of both
 * engines refuses the one before. `test/rolling` runs the version that raised it beside this one.
 */
const FORM = 2

/** Name of BullMQ's queue for an inbox. A version with another form finds neither its jobs nor its keys. */
export function storedQueue(queue: string): string {
  return `${queue}.v${FORM}`
}

/** Begins the names of this package's tables and functions on PostgreSQL. */
export const OURS: string = `ackhook_v${FORM}_`

/** Option of a job with its ordering key. The triggers of another form ignore the job. */
export const ORDER: `ackhook_v${typeof FORM}_order` = `ackhook_v${FORM}_order`

/**
 * What must not stay: inboxes whose contents cannot be read without a key, and the erasure of single events.
 *
 * @module
 */
export { type Erased, type EraseOptions, type EraseWhere, eraseEvents } from './erase-events.ts'
export { sealedInbox } from './sealed-inbox.ts'
export type { SealContext, SealOptions } from './sealer.ts'

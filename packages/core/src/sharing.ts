/**
 * API for durable inboxes: processes on one inbox share which types they handle. A separate entry, so that an
 * application whose inbox is in memory does not load it.
 *
 * @module
 */

export { redriveCommand } from './inbox/sharing/redrive-command.ts'
export { shareHandlers } from './inbox/sharing/share-handlers.ts'

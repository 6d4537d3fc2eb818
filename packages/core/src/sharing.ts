/**
 * API for durable inboxes: processes on one inbox share which types they handle. A separate entry point, so that an
 * application with a memory inbox does not load it.
 *
 * @module
 */

export { type DropPolicy, dropOldLetters } from './inbox/sharing/drop-old-letters.ts'
export { redriveCommand, resumeCommand } from './inbox/sharing/redrive-command.ts'
export { shareHandlers } from './inbox/sharing/share-handlers.ts'

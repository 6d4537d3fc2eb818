/**
 * For durable inboxes: what processes on one inbox tell each other about their handlers. An entry of its own, so that an
 * application whose inbox is in memory does not load it.
 *
 * @module
 */

export { redriveCommand } from './inbox/sharing/redrive-command.ts'
export { shareHandlers } from './inbox/sharing/share-handlers.ts'

import type { EventJob } from './event-job.ts'

/** A crash or a deploy in the middle of an event is no fault of the event: BullMQ's default of 1 fails it. */
const MAX_STALLED = 10
/** How often `onDeadLetter` may take its process down before nobody is told any more. */
const MAX_UNTOLD = 3

/** What a worker does with an event, by how often its process died in the middle of it. */
export function fateOf({ stalledCounter, data }: EventJob): 'run' | 'bury' | 'bury untold' {
  const stalls = stalledCounter - (data.forgiven ?? 0)
  if (stalls <= MAX_STALLED) return 'run'
  return stalls <= MAX_STALLED + MAX_UNTOLD ? 'bury' : 'bury untold'
}

/**
 * BullMQ counts on when a dead letter is retried, from here or from a dashboard: without this it would be dead
 * again at once. A crash between this and BullMQ's record of the failure gives the event ten more tries.
 */
export async function forgiveStalls(job: EventJob): Promise<void> {
  await job.updateData({ ...job.data, forgiven: job.stalledCounter })
}

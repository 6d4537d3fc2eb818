/** A crash or a deploy in the middle of an event is no fault of the event: BullMQ's default of 1 fails it. */
const MAX_STALLED = 10
/** How often `onDeadLetter` may take its process down before nobody is told any more. */
const MAX_UNTOLD = 3

/** What a worker does with an event, by how often its process died in the middle of it. */
export function fateOf(stalls: number): 'run' | 'bury' | 'bury untold' {
  if (stalls <= MAX_STALLED) return 'run'
  return stalls <= MAX_STALLED + MAX_UNTOLD ? 'bury' : 'bury untold'
}

/** The states of a row. */
export const WAITING = 0
/** Leased to a process that runs it. */
export const ACTIVE = 1
/** Waits for another event of its ordering key, which is waiting or active. */
export const BEHIND = 2
/** A dead letter. The states before it are those of an event that is not handled yet. */
export const DEAD = 3

/** The `due` of a waiting row that needs only a slot: no clock that is set back can delay it. */
export const AT_ONCE = 0
/** The same, for what goes before everything that waits. */
export const FIRST = -1

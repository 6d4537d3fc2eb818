/** The states of a row. */
export const WAITING = 0
/** Leased to a process that runs it. */
export const ACTIVE = 1
/** Handled: only its id is kept. */
export const DONE = 2
export const DEAD = 3
/** Waits for another event of its ordering key, which is waiting or active. */
export const BEHIND = 4

/** The `due` of a waiting row that needs only a slot: no clock that is set back can delay it. */
export const AT_ONCE = 0
/** The same, for what goes before everything that waits. */
export const FIRST = -1

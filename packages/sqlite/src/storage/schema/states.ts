/** The states of a row. */
export const WAITING = 0
/** Leased to a process that runs it. */
export const ACTIVE = 1
/** Waits for another event of its ordering key, which is waiting or active. */
export const BEHIND = 2
/** A dead letter. Lower states are those of unhandled events. */
export const DEAD = 3

/** The `due` of a waiting row that needs only a slot: setting the clock back cannot delay it. */
export const AT_ONCE = 0
/** The `due` of such a row that goes before all other waiting rows. */
export const FIRST = -1

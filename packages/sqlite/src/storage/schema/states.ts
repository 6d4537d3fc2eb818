/** The states of a row. Those below {@link DEAD} are of unhandled events. */
/** Waits for the end of a pause of its type. */
export const PARKED = -1
export const WAITING = 0
/** Leased to a process that runs it. */
export const ACTIVE = 1
/** Waits for another event of its ordering key, which is waiting or active. */
export const BEHIND = 2
/** A dead letter. */
export const DEAD = 3

/** The `due` of a waiting row that needs only a slot: setting the clock back cannot delay it. */
export const AT_ONCE = 0
/** The `due` of such a row that goes before all other waiting rows. */
export const FIRST = -1
/** The `due` of a row whose time has come, where slots are shared among groups. */
export const AGAIN = -2

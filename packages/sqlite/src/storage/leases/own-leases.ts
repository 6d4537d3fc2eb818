/**
 * By token, the rows that this process holds and keeps renewing. Kept where the SQL runs and not in the
 * connection, which may have to be replaced while handlers run.
 */
export type OwnLeases = Map<string, number>

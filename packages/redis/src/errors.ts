/** Older servers put the answer to a command of a script behind a text of their own. */
const NOT_SERVING = /(?:^|-)(?:READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY) /

/**
 * Whether a failure says that Redis serves nobody now. An error that Redis answers says the opposite, unless it is
 * one of those: a right that is missing, a key of another type or a full memory concern their own command.
 */
export function meansUnavailable(cause: unknown): boolean {
  if (!(cause instanceof Error) || cause.name !== 'ReplyError') return true
  return NOT_SERVING.test(cause.message)
}

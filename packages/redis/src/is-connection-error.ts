/** Older servers put the reply to a command of a script behind a text of their own. */
const NOT_SERVING = /(?:^|-)(?:READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY) /

/**
 * Returns whether a failure means that Redis serves no calls at present. An error reply means the opposite, unless it
 * is one of those above: a missing permission, a key of another type or a full memory concern their own command.
 */
export function isConnectionError(cause: unknown): boolean {
  if (!isError(cause) || cause.name !== 'ReplyError') return true
  return NOT_SERVING.test(cause.message)
}

/** Returns whether Redis refuses this client altogether: a wrong or missing password, or a user that is disabled. */
export function isRefused(cause: unknown): boolean {
  return cause instanceof Error && /^(?:NOAUTH|WRONGPASS) /.test(cause.message)
}

import { isError } from '@ackhook/core/spi'

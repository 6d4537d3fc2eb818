/** Codes of a server that serves no calls. Older servers put a text of their own before an error inside a script. */
const NOT_SERVING = /(?:^|-)(?:READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY) /

/**
 * Returns whether a failure means that Redis serves no calls at present. An error reply means the opposite, except for
 * those above: a missing permission, a key of another type or a full memory concerns only its own command.
 */
export function isConnectionError(cause: unknown): boolean {
  if (!isError(cause) || cause.name !== 'ReplyError') return true
  return NOT_SERVING.test(cause.message)
}

/** Returns whether Redis refuses this client altogether: a wrong or missing password, or a disabled user. */
export function isRefused(cause: unknown): boolean {
  return cause instanceof Error && /^(?:NOAUTH|WRONGPASS) /.test(cause.message)
}

import { isError } from '@ackhook/core/spi'

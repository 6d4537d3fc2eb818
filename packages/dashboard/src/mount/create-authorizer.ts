import { onceAMinute, withDeadline } from '@ackhook/core/spi'
import type { Person } from '../api/verbs.ts'
import type { Authorization, ResolvedDashboard } from '../options/options.ts'
import { ApiProblem } from '../protocol/protocol.ts'

/** Time limit for `authorize`. */
const DEADLINE_MS = 5000
const LATE = `did not respond within ${DEADLINE_MS / 1000} s`
const TOO_LATE = new ApiProblem(503, 'authorize_timeout', `The dashboard's authorize ${LATE}.`)

/**
 * Creates a function that calls `authorize` and returns the caller, `undefined` to refuse, or the problem if it does not
 * respond. It never rejects. It logs errors and wrong results, which would otherwise look like a visitor without rights.
 */
export function createAuthorizer({
  authorize,
  logger,
}: Pick<ResolvedDashboard, 'authorize' | 'logger'>): (
  request: Request,
  native: unknown,
) => Promise<Person | ApiProblem | undefined> {
  const report = onceAMinute<{ reason: string; fields: object }>(({ reason, fields }, more) => {
    const advice = reason === LATE ? '' : " It must return 'admin', 'read', false or { role, name }."
    const message = `The dashboard refused a request because authorize ${reason}${more}.${advice}`
    logger.warn({ code: 'authorize_failed', ...fields }, message)
  })
  const warn = (reason: string, fields: object): void => report(reason, { reason, fields })

  return async (request, native) => {
    try {
      const asked = Promise.resolve(authorize(request, native))
      const answer = await withDeadline(asked, { operation: 'authorize', ms: DEADLINE_MS })
      const caller = toCaller(answer)
      if (caller === undefined && answer !== false) warn(`returned ${nameOf(answer)}`, {})
      return caller
    } catch (err) {
      const isLate = (err as Partial<Error> | undefined)?.name === 'DeadlineError'
      if (isLate) warn(LATE, {})
      else warn('failed', { err })
      return isLate ? TOO_LATE : undefined
    }
  }
}

function toCaller(answer: Authorization): Person | undefined {
  const caller = typeof answer === 'object' && answer !== null ? answer : { role: answer }
  return caller.role === 'admin' || caller.role === 'read' ? { ...caller, role: caller.role } : undefined
}

/** Names the type, never the value, which may be a token. */
function nameOf(answer: unknown): string {
  if (answer === true || answer === null) return String(answer)
  return answer === undefined ? 'nothing' : `another ${typeof answer}`
}

/** Matches a function's source with an empty parameter list and no use of `arguments`. */
const IGNORES_REQUEST = /^(?:async\b\s*)?(?:function\b\s*[\w$]*\s*|[\w$]+\s*)?\(\s*\)(?![\s\S]*\barguments\b)/

/** Warns in production if `authorize` cannot tell one request from another. */
export function warnOfOpenDoor({ authorize, logger }: Pick<ResolvedDashboard, 'authorize' | 'logger'>): void {
  const { process } = globalThis as {
    readonly process?: { readonly env?: Record<string, string | undefined> }
  }
  if (process?.env?.['NODE_ENV'] !== 'production' || !IGNORES_REQUEST.test(String(authorize))) return
  logger.warn(
    { code: 'authorize_open' },
    "The dashboard's authorize ignores the request, so everyone who reaches the page gets the role it returns: with 'admin', anyone can redrive and discard. Decide by the request: (request, native) => …",
  )
}

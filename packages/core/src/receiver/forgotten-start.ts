import { describeError } from '../errors/errors.ts'
import type { Inbox, InboxStats } from '../inbox/inbox.ts'
import { withDeadline } from '../lib/deadline.ts'
import { letProcessEnd } from '../lib/let-process-end.ts'
import type { Logger } from '../observe/logger.ts'

/** An application has started its receiver by then. A script or a build has ended. */
const NOTICED_MS = 10_000
const COUNT = { operation: 'inbox.statsBeforeStart', ms: 5000 }

export interface ForgottenStartParts {
  readonly inbox: Pick<Inbox, 'statsBeforeStart' | 'location'>
  readonly logger: Logger
  /** Returns whether stored events still wait for a start that nobody has called. */
  readonly isNeverStarted: () => boolean
}

/**
 * Tells once that nobody has started a receiver whose inbox may hold events. Starts nothing itself: handlers may be
 * registered later than any timer expects. Does not keep the process alive.
 */
export function reportForgottenStart(parts: ForgottenStartParts): void {
  const { statsBeforeStart } = parts.inbox
  if (statsBeforeStart === undefined || !parts.isNeverStarted()) return
  letProcessEnd(setTimeout(() => void tell(parts, statsBeforeStart), NOTICED_MS))
}

async function tell(
  { inbox, logger, isNeverStarted }: ForgottenStartParts,
  statsBeforeStart: NonNullable<Inbox['statsBeforeStart']>,
): Promise<void> {
  if (!isNeverStarted()) return
  const counted = await count(statsBeforeStart)
  if (!isNeverStarted()) return
  const of = inbox.location === undefined ? '' : ` of ${inbox.location}`
  const waiting =
    'pending' in counted ? sentence(counted) : `How many wait is unknown: ${describeError(counted.error)}.`
  logger.error(
    {
      code: 'never_started',
      ...('pending' in counted
        ? { pending: counted.pending, active: counted.active }
        : { err: counted.error }),
    },
    `Nobody has started this receiver, so the stored events${of} wait until its next delivery. ${waiting} Call gracefulShutdown(hooks, server), or await hooks.start(), once all handlers are registered.`,
  )
}

async function count(
  statsBeforeStart: NonNullable<Inbox['statsBeforeStart']>,
): Promise<InboxStats | { readonly error: unknown }> {
  try {
    return await withDeadline(Promise.resolve(statsBeforeStart()), COUNT)
  } catch (error) {
    return { error }
  }
}

/** An event that is active belongs to another process, or to one that has ended. */
function sentence({ pending, active }: InboxStats): string {
  const waiting = `${pending} event${pending === 1 ? ' waits' : 's wait'} now`
  return active === 0
    ? `${waiting}.`
    : `${waiting}, and ${active} ${active === 1 ? 'belongs' : 'belong'} to another process, or to one that has ended.`
}

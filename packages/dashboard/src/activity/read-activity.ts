import type { Inbox, InboxStats } from '@ackhook/core'
import {
  ACTIVITY_WINDOWS,
  type ActivityWindow,
  activityQuery,
  describeError,
  type InspectedReceiver,
  withDeadline,
} from '@ackhook/core/spi'
import type { ActivityReport, Waiting } from '../protocol/protocol.ts'
import { figuresOf } from './figures.ts'
import { type Facts, verdictOf } from './verdict.ts'

/** What a report is read from. */
export interface ActivitySources {
  readonly inbox: Inbox
  /** The receiver of this process. Absent for a tool. */
  readonly receiver?: Pick<InspectedReceiver, 'outage' | 'silence' | 'isNeverStarted'> | undefined
  /** Returns an error's text as it may be shown. */
  readonly show?: (
    error: string,
    event: { readonly id: string; readonly type: string; readonly namespace: string },
  ) => string
}

const DEADLINE = { operation: 'activity', ms: 6000 }
/** Time since its last failure after which a store that responds counts as working. */
const FAILED_MS = 60_000
/** Wait of an event that could run which shows that a store still fails. */
const STUCK_MS = 10_000
const NO_EVENT = { id: '', type: '', namespace: '' }
const NOT_KEPT = 'the inbox keeps no figures: upgrade its package'

/** Returns a window, or `undefined` for another text. */
export function windowOf(text: string): ActivityWindow | undefined {
  return Object.hasOwn(ACTIVITY_WINDOWS, text) ? (text as ActivityWindow) : undefined
}

/** Reads the figures of a window, and tells whether all is well now. Never rejects: an outage is a verdict. */
export async function readActivity(
  sources: ActivitySources,
  window: ActivityWindow,
): Promise<ActivityReport> {
  const now = Date.now()
  try {
    return await withDeadline(read(sources, window, now), DEADLINE)
  } catch (error) {
    return { now, window, verdict: verdictOf({ now, outage: shown(sources, describeError(error)) }) }
  }
}

async function read(sources: ActivitySources, window: ActivityWindow, now: number): Promise<ActivityReport> {
  const { inbox } = sources
  const query = activityQuery(window, now)
  const [stats, slots, minutes, processes] = await Promise.all([
    inbox.stats(),
    inbox.activity?.read(query),
    inbox.activity?.read(activityQuery('1h', now)),
    inbox.processes?.(),
  ])
  const facts: Facts = {
    now,
    outage: outageOf(sources, stats),
    stats,
    pausedMs: stats.paused === true ? await pausedMs(inbox, now) : undefined,
    processes,
    minutes,
    isNeverStarted: sources.receiver?.isNeverStarted(),
    silence: silenceOf(sources, now),
    lastError: await lastErrorOf(sources, stats),
  }
  return {
    now,
    window,
    verdict: verdictOf(facts),
    waiting: waitingOf(stats),
    ...(slots === undefined
      ? { cannotKeep: inbox.cannotKeepActivity ?? NOT_KEPT }
      : { figures: figuresOf(slots, query, now) }),
  }
}

/** A store may fail although the inbox responds: a full disk can be read, and a memory inbox is never down itself. */
function outageOf(sources: ActivitySources, { oldestUntriedMs = 0 }: InboxStats): string | undefined {
  const outage = sources.receiver?.outage()
  if (outage === undefined) return undefined
  const isOver = outage.failedMs > FAILED_MS && oldestUntriedMs < STUCK_MS
  return isOver ? undefined : shown(sources, outage.cause)
}

async function pausedMs(inbox: Inbox, now: number): Promise<number | undefined> {
  const all = (await inbox.handling?.paused())?.find(({ type }) => type === undefined)
  return all === undefined ? undefined : Math.max(0, now - all.since)
}

function silenceOf({ receiver }: ActivitySources, now: number): Facts['silence'] {
  const state = receiver?.silence()
  if (state === undefined) return undefined
  const { isSilent, lastDeliveryAt } = state
  return { isSilent, silentMs: lastDeliveryAt === undefined ? undefined : Math.max(0, now - lastDeliveryAt) }
}

/** The last error of an event that waits, or that of the newest dead letter. */
async function lastErrorOf(sources: ActivitySources, stats: InboxStats): Promise<string | undefined> {
  if (stats.waitingError !== undefined) return shown(sources, stats.waitingError)
  if (stats.dead === 0 || sources.inbox.deadLetters.unreadable) return undefined
  const [letter] = await sources.inbox.deadLetters.list({ limit: 1 })
  return letter && shown(sources, letter.reason, letter)
}

function shown(sources: ActivitySources, error: string, { id, type, namespace } = NO_EVENT): string {
  return sources.show?.(error, { id, type, namespace }) ?? error
}

function waitingOf({
  pending,
  active,
  dead,
  oldestPendingMs,
  oldestUntriedMs,
  retrying,
}: InboxStats): Waiting {
  return {
    pending,
    active,
    dead,
    oldestMs: oldestPendingMs,
    ...(oldestUntriedMs !== undefined && { oldestUntriedMs }),
    ...(retrying !== undefined && { retrying }),
  }
}

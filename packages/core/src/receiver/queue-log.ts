import { platform } from '#platform'
import { hasCode } from '../errors/errors.ts'
import type { Delivery } from '../inbox/delivery.ts'
import type { DrainReport, InboxStats } from '../inbox/inbox.ts'
import { withDeadline } from '../lib/deadline.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import type { Observers } from '../observe/observers.ts'
import { warnOfEndingHost } from './ending-host.ts'
import type { ResolvedOptions } from './options.ts'

/** Interval between queries of an inbox, in milliseconds. An inbox in this process replies synchronously. */
const ASK_EVERY_MS = 30_000
const ASK_OWN_EVERY_MS = 1000
/** Share of `capacity` that a process may accept between two queries: a burst fills an inbox within seconds. */
const ASK_EVERY_SHARE = 0.05
const ANSWER = { operation: 'inbox.stats', ms: 1000 }
/** Shares of `capacity`: one warning above the first, and the next only after the fill level fell below the second. */
const HIGH = 0.8
const LOW = 0.6

export interface QueueLogParts extends Pick<ResolvedOptions<never>, 'inbox' | 'capacity' | 'logger'> {
  readonly observers: Pick<Observers, 'add'>
}

/** Logs how full an inbox is: at the start, when it fills up, when it is full, and around a drain. */
export class QueueLog {
  readonly #parts: QueueLogParts
  /** Monotonic time in milliseconds of the next query. Read at each acceptance, without a call. */
  nextAt: number = performance.now() + ASK_OWN_EVERY_MS
  /** Acceptances until the next query, whatever the time. Counted at each acceptance, without a call. */
  left: number
  #isHigh = false

  constructor(parts: QueueLogParts) {
    this.#parts = parts
    this.left = this.#mostBetween()
  }

  /** Checks the fullness after an acceptance, from `nextAt` on, or with none `left`. Delays nothing. */
  accepted(now: number): void {
    const asked = this.#ask(stats => this.#judge(stats))
    this.nextAt = now + (isPromise(asked) ? ASK_EVERY_MS : ASK_OWN_EVERY_MS)
    this.left = this.#mostBetween()
  }

  #mostBetween(): number {
    const { inbox, capacity } = this.#parts
    return inbox.durable === true
      ? Math.max(1, Math.floor(capacity * ASK_EVERY_SHARE))
      : Number.POSITIVE_INFINITY
  }

  /** Returns a sentence for the end of a line, or `undefined` if the inbox does not respond. */
  fullness(): MaybePromise<string | undefined> {
    return this.#ask(stats => this.#sentence(stats))
  }

  /** Reports events and dead letters that an earlier process left. Waits a second for the answer at most. */
  async started(): Promise<void> {
    const { inbox, logger } = this.#parts
    const report = (stats: InboxStats): void => {
      const [waiting, { dead }] = [stats.pending + stats.active, stats]
      const message = `${waiting} event${waiting === 1 ? ' waits' : 's wait'} from an earlier run, ${dead} dead letter${dead === 1 ? '' : 's'} (${inbox.location}).`
      if (waiting + dead > 0) logger.info({ code: 'inbox_resumed', ...stats }, message)
    }
    await this.#ask(report)
  }

  /** Reports the beginning and the end of a drain. */
  async drain(timeoutMs: number, close: () => Promise<DrainReport>): Promise<DrainReport> {
    const { logger, observers } = this.#parts
    const startedAt = performance.now()
    const counts: Record<string, number> = {}
    const withdrawn = new Set<string>()
    const unrecorded = new Set<string>()
    const leave = observers.add(observation => {
      counts[observation.kind] = (counts[observation.kind] ?? 0) + 1
      const { kind } = observation
      if (kind === 'completion_lost' || kind === 'failure_lost') unrecorded.add(nameOf(observation))
      else if (kind === 'attempt_withdrawn' && hasCode(observation.error, 'drain_timeout'))
        withdrawn.add(nameOf(observation))
    })
    const stats = await this.#ask(stats => stats)
    const begins = stats && `: ${stats.pending} events wait and ${stats.active} run`
    const message = `The drain begins${begins ?? ''}. It takes ${timeoutMs / 1000} s at most.`
    logger.info({ code: 'drain_begins', ...stats }, message)
    if (stats === undefined || stats.pending + stats.active > 0) warnOfEndingHost(logger, timeoutMs)
    const ended = platform.onExit(() => this.#reportCut(startedAt, timeoutMs))
    const { lost } = await close().finally(ended)
    leave()
    const { completed: handled = 0, dead_lettered: dead = 0, attempt_withdrawn: attempts = 0 } = counts
    // A memory inbox counts acknowledged events whose attempts were cut short among those that are lost.
    const cut = new Set([...unrecorded, ...(lost > 0 ? [] : withdrawn)]).size
    const left = stats && Math.max(0, stats.pending + stats.active - handled - dead)
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10
    const over = `The drain ended after ${seconds} s: ${handled} events handled, ${attempts} attempts withdrawn, ${left ?? 'an unknown number of'} events left.`
    const fields = { code: 'drain_over', handled, withdrawn: attempts, left, lost, cut, seconds }
    if (lost > 0) logger.error(fields, `${over} ${lost} are lost: ${ADVICE}`)
    else if (cut > 0)
      logger.warn(fields, `${over} The time was over before ${cut} of them had ended: ${ADVICE_CUT}`)
    else logger.info(fields, over)
    return { lost, ...(cut > 0 && { cut }) }
  }

  /** Reports an exit in the middle of a drain, which something other than the receiver has decided. */
  #reportCut(startedAt: number, timeoutMs: number): void {
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10
    const cause = platform.endingHost()?.fix ?? UNKNOWN_CAUSE
    const message = `The process exits ${seconds} s after its drain began, which may take ${timeoutMs / 1000} s: handlers are cut short. ${cause}.`
    this.#parts.logger.error({ code: 'drain_cut', seconds, timeoutMs }, message)
  }

  /** Queries the inbox. `undefined` if it does not respond in time. Never rejects. */
  #ask<T>(use: (stats: InboxStats) => T): MaybePromise<T | undefined> {
    try {
      const asked = this.#parts.inbox.stats()
      if (!isPromise(asked)) return use(asked)
      return withDeadline(Promise.resolve(asked), ANSWER).then(use, () => undefined)
    } catch {
      return undefined
    }
  }

  #judge(stats: InboxStats): void {
    const { capacity, logger } = this.#parts
    const share = (stats.pending + stats.active) / capacity
    const message = `The inbox is ${Math.floor(share * 100)}% full.${this.#sentence(stats)} Once it is full, deliveries get 503: raise concurrency, add processes or make handlers faster.`
    if (share >= HIGH && !this.#isHigh) logger.warn({ code: 'queue_filling', ...stats, capacity }, message)
    this.#isHigh = share >= (this.#isHigh ? LOW : HIGH)
  }

  #sentence({ pending, active, oldestPendingMs }: InboxStats): string {
    const seconds = Math.round(oldestPendingMs / 1000)
    return ` ${pending + active} events wait or run, the oldest for ${seconds} s; capacity is ${this.#parts.capacity}.`
  }
}

/** Names an event: a withdrawn attempt may also end without a record, and counts once. */
function nameOf({ namespace, id }: Pick<Delivery, 'namespace' | 'id'>): string {
  return JSON.stringify([namespace, id])
}

const ADVICE_CUT = 'they run again. Give close() a longer timeout, or let handlers heed their signal.'
const UNKNOWN_CAUSE =
  'Something calls process.exit() meanwhile, as a rule a signal handler of the host or of the app: let it wait for close(), or raise its limit above the time of the drain'
const ADVICE = 'give close() a longer timeout, save them in onDeadLetter, or use a durable inbox.'

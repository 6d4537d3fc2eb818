import { CODES, isFromSender, type RefusalCode } from '../errors/codes.ts'
import { ConfigurationError } from '../errors/errors.ts'
import type { Duration } from '../errors/parse-duration.ts'
import { covers, requirePattern } from '../events/type-pattern.ts'
import { type ActivityCounts, activityQuery, readActivityName } from '../inbox/activity.ts'
import type { StoreNotice } from '../inbox/dedupe-store.ts'
import type { Inbox } from '../inbox/inbox.ts'
import { withDeadline } from '../lib/deadline.ts'
import { durationMs } from '../lib/duration.ts'
import { letProcessEnd } from '../lib/let-process-end.ts'
import type { Logger } from '../observe/logger.ts'
import type { Observation } from '../observe/observation.ts'
import type { Observers } from '../observe/observers.ts'
import { isOnWorkers, WORKERS } from '../platform/platform.ts'

/** Longest time between two deliveries, or a function of the time that returns it, and `false` in quiet hours. */
export type Expectation = Duration | ((at: Date) => Duration | false)

/** The option `expectEvery`: for all deliveries, or by type (`'message.delivered'`), category (`'message.*'`) or `'*'`. */
export type ExpectEvery = Expectation | { readonly [pattern: string]: Expectation }

/** One expectation, checked. */
export interface Expected {
  readonly pattern: string
  /** Milliseconds at a time, or `false`. A function of the user's may throw here. */
  readonly everyMs: (at: number) => number | false
}

/** State of all expectations. */
export interface SilenceState {
  /** Whether deliveries have been missing for longer than expected. */
  readonly isSilent: boolean
  /** Time of the last genuine delivery that this process knows of, in milliseconds since the epoch. */
  readonly lastDeliveryAt: number | undefined
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Share of an expectation that may pass unnoticed. */
const PRECISION = 0.1

/** Checks the option. Throws {@link ConfigurationError}. */
export function resolveExpectEvery(option: ExpectEvery | undefined): readonly Expected[] {
  if (option === undefined) return []
  if (isOnWorkers())
    throw new ConfigurationError(
      'expectEvery',
      `leave it out on ${WORKERS}: its timers end with the request. Watch the age of the last delivery from outside`,
    )
  if (typeof option !== 'object') return [{ pattern: '*', everyMs: everyMsOf('expectEvery', option) }]
  const entries = Object.entries(option ?? {})
  if (entries.length === 0 || Array.isArray(option))
    throw new ConfigurationError(
      'expectEvery',
      "must be a duration, or an object such as { 'message.*': '10m' }",
    )
  return entries.map(([pattern, every]) => {
    requirePattern('expectEvery', pattern)
    return { pattern, everyMs: everyMsOf(`expectEvery['${pattern}']`, every) }
  })
}

function everyMsOf(option: string, every: Expectation): Expected['everyMs'] {
  const bounds = { option, minMs: 1000, maxMs: 30 * DAY_MS }
  if (typeof every !== 'function') {
    const ms = durationMs(every, bounds)
    return () => ms
  }
  return at => {
    const now = every(new Date(at))
    return now === false ? false : durationMs(now, bounds)
  }
}

export interface SilenceParts {
  readonly expected: readonly Expected[]
  readonly inbox: Pick<Inbox, 'activity' | 'durable'>
  readonly clock: () => number
  readonly logger: Logger
  readonly observers: Pick<Observers, 'add' | 'observe'>
}

/** An expectation under way. Times are the receiver's clock's. */
interface Watch extends Expected {
  /** The expected time counts from here: the last delivery, the start, or the end of quiet hours. */
  since: number
  lastAt: number | undefined
  silentSince: number | undefined
  /** Refusals since the last delivery that do not prove a sender. */
  refused: number
  lastRefusal: RefusalCode | undefined
}

/**
 * Notices that no genuine delivery arrives, which no delivery can report: one error in the log when it has lasted longer
 * than expected, and one line when it ends. A refused request proves no sender, unless its signature matched.
 */
export class Silence {
  readonly #parts: SilenceParts
  readonly #watches: readonly Watch[]
  #isStarted = false
  #hasFailed = false

  constructor(parts: SilenceParts) {
    this.#parts = parts
    const fresh = { since: 0, lastAt: undefined, silentSince: undefined, refused: 0, lastRefusal: undefined }
    this.#watches = parts.expected.map(({ pattern, everyMs }) => ({ pattern, everyMs, ...fresh }))
  }

  /**
   * Begins to count, until `isOver` says that the receiver accepts nothing any more. Does nothing the second time, or if
   * nothing is expected.
   */
  start(isOver: () => boolean): void {
    if (this.#isStarted || this.#watches.length === 0) return
    this.#isStarted = true
    const { clock, observers } = this.#parts
    for (const watch of this.#watches) watch.since = clock()
    observers.add(observation => this.#observed(observation))
    void this.#countOthers()
    this.#tickLater(isOver)
  }

  get state(): SilenceState | undefined {
    if (!this.#isStarted) return undefined
    const times = this.#watches.flatMap(({ lastAt }) => lastAt ?? [])
    return {
      isSilent: this.#watches.some(({ silentSince }) => silentSince !== undefined),
      lastDeliveryAt: times.length === 0 ? undefined : Math.max(...times),
    }
  }

  #observed(observation: Observation): void {
    const { kind } = observation
    if (kind === 'accepted' || kind === 'duplicate') {
      for (const watch of this.#watches)
        if (covers(watch.pattern, observation.type)) this.#heard(watch, this.#parts.clock())
    } else if (kind === 'rejected') {
      for (const watch of this.#watches) this.#refused(watch, observation.code)
    }
  }

  /** A genuine delivery that was refused shows that its sender is alive, but not the type. */
  #refused(watch: Watch, code: RefusalCode): void {
    if (watch.pattern === '*' && isFromSender(code)) this.#heard(watch, this.#parts.clock())
    else {
      watch.refused++
      watch.lastRefusal = code
    }
  }

  #heard(watch: Watch, at: number): void {
    const { silentSince } = watch
    watch.since = at
    watch.lastAt = at
    watch.refused = 0
    watch.lastRefusal = undefined
    if (silentSince === undefined) return
    watch.silentSince = undefined
    // A warning like the silence itself: the default logger drops `info`.
    this.#tell('warn', {
      code: 'deliveries_resumed',
      message: `Deliveries${ofPattern(watch)} arrive again after ${show(at - silentSince)}.`,
    })
  }

  #tickLater(isOver: () => boolean): void {
    const now = this.#parts.clock()
    const shortest = Math.min(
      10 * MINUTE_MS,
      ...this.#watches.map(watch => this.#everyMs(watch, now) || MINUTE_MS),
    )
    letProcessEnd(setTimeout(() => void this.#tick(isOver), shortest * PRECISION))
  }

  async #tick(isOver: () => boolean): Promise<void> {
    if (isOver()) return
    if (this.#watches.some(watch => this.#isOverdue(watch))) await this.#countOthers()
    for (const watch of this.#watches) if (this.#isOverdue(watch)) this.#report(watch)
    this.#tickLater(isOver)
  }

  #isOverdue(watch: Watch): boolean {
    const now = this.#parts.clock()
    const everyMs = this.#everyMs(watch, now)
    // After quiet hours, or once the clock was set back, the time counts anew.
    if (everyMs === false || now < watch.since) watch.since = now
    return everyMs !== false && watch.silentSince === undefined && now - watch.since >= everyMs
  }

  /** Takes deliveries into account that other processes of a durable inbox have accepted, also before a restart. */
  async #countOthers(): Promise<void> {
    const { inbox } = this.#parts
    const all = this.#watches.find(({ pattern }) => pattern === '*')
    if (all === undefined || inbox.durable !== true || inbox.activity === undefined) return
    try {
      const asked = Promise.resolve(inbox.activity.read(activityQuery('1h', Date.now())))
      const slots = await withDeadline(asked, { operation: 'activity', ms: 1000 })
      const last = slots.findLast(({ counts }) => hasDelivered(counts))
      if (last !== undefined && last.startedAt > (all.lastAt ?? 0)) this.#heard(all, last.startedAt)
    } catch {
      // The inbox is down, which is reported as such: this process judges by what it has seen.
    }
  }

  #report(watch: Watch): void {
    const { since, lastAt, refused, lastRefusal } = watch
    watch.silentSince = since
    const missingMs = this.#parts.clock() - since
    const last =
      lastAt === undefined ? 'none since the start' : `the last one at ${new Date(lastAt).toISOString()}`
    const cause =
      lastRefusal === undefined
        ? 'Nothing arrived at all: check on the platform that the endpoint is enabled and its address is right, then DNS, TLS and the proxy in front.'
        : `Refused meanwhile: ${refused}, at last with ${CODES[lastRefusal].status} ${lastRefusal}, so requests do arrive: see errors.md for this code.`
    const message = `No genuine delivery${ofPattern(watch)} for ${show(missingMs)}, longer than expectEvery allows; ${last}. ${cause}`
    this.#tell('error', { code: 'deliveries_silent', message })
  }

  #tell(level: 'warn' | 'error', { code, message }: StoreNotice): void {
    const { logger, observers } = this.#parts
    logger[level]({ code }, message)
    observers.observe?.({ kind: 'notice', code, message })
  }

  #everyMs(watch: Watch, at: number): number | false {
    try {
      return watch.everyMs(at)
    } catch (err) {
      if (!this.#hasFailed)
        this.#parts.logger.error(
          { code: 'expect_every_failed', err },
          `expectEvery failed: nothing is expected${ofPattern(watch)} until it returns a duration or false.`,
        )
      this.#hasFailed = true
      return false
    }
  }
}

/** Whether there were deliveries. What was ingested was accepted without one. */
function hasDelivered(counts: ActivityCounts): boolean {
  let delivered = 0
  for (const [name, count] of Object.entries(counts)) {
    const counted = readActivityName(name)?.counted
    if (counted === 'accepted') delivered += count
    if (counted === 'ingested') delivered -= count
  }
  return delivered > 0
}

function show(ms: number): string {
  return ms < 2 * MINUTE_MS ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / MINUTE_MS)} min`
}

function ofPattern({ pattern }: Expected): string {
  return pattern === '*' ? '' : ` of ${pattern}`
}

import { DeadlineError, settlesWithin } from '../../lib/deadline.ts'
import { letProcessEnd } from '../../lib/let-process-end.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { ProcessingPolicy } from '../inbox.ts'
import type {
  HandlerSharing,
  PresenceDirectory,
  PresenceStore,
  PresenceView,
  PublishedHandlers,
  Route,
} from '../presence.ts'
import { describeDifference } from './describe-difference.ts'
import { OtherProcesses } from './other-processes.ts'
import { PatternSet, RANK } from './pattern-set.ts'
import { decideRoute, FIRST_TOKEN } from './route.ts'

/**
 * Maximum age of the view that an attempt relies on. So a publication covers every attempt that begins this long after
 * it.
 */
const MAX_AGE_MS = 1000
const READ_EVERY_MS = 500
const MAX_RENEW_MS = 10_000
/** Number of renewals that may be missed before a publication expires. */
const RENEWALS = 8
/** Time for which a start retries a publication that the board refuses: another process may have locked a file. */
const START_MS = 4000
const START_PAUSE_MS = 100
/** Time that the others may need to publish again after an outage. */
const RETURN_MS = 5000
/** Number of event-loop turns into which a deadline is split, however long a handler blocks each of them. */
const TURNS = 10
/** Share of `capacity` for events that wait for another process. */
const POSTPONED_SHARE = 0.1

type Policy = Pick<ProcessingPolicy, 'capacity' | 'observe' | 'logger'>

/**
 * Patterns of this process and the others on its inbox. Decides for each attempt whether an expected process handles
 * the type more specifically.
 */
export class PolledDirectory implements PresenceDirectory {
  readonly board: PresenceStore
  readonly #sharing: HandlerSharing
  readonly #policy: Policy
  readonly #ownSet: PatternSet
  readonly #others = new OtherProcesses()
  /** Number of events that may still be postponed before the next view. */
  #room = 0
  /** Times at which the view was requested and our own publication was stored. Monotonic milliseconds. */
  #viewedAt = Number.NEGATIVE_INFINITY
  #publishedAt = performance.now()
  /** Reading of `#clock` at `#publishedAt`. */
  #publishedFor = 0
  /** True if the board has lost our own publication. */
  #isLost = false
  /** Time until which the others may not have published again. Monotonic milliseconds. */
  #unsureUntil = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isDown = false
  #isClosing = false
  #isStopped = false

  constructor(board: PresenceStore, sharing: HandlerSharing, policy: Policy) {
    this.board = board
    this.#sharing = sharing
    this.#policy = policy
    this.#ownSet = new PatternSet([sharing.published])
  }

  async begin(): Promise<void> {
    for (const until = performance.now() + START_MS; this.#viewedAt < 0; ) {
      try {
        await this.#publish()
        await this.#read()
      } catch (error) {
        if (this.#isStopped || performance.now() >= until) throw error
        await new Promise(resolve => setTimeout(resolve, START_PAUSE_MS))
      }
    }
    this.#reportDifference()
    if (!this.#isStopped) this.#schedule()
  }

  async settled(): Promise<void> {
    const isNew = this.#others.live.some(one => lacks(one, this.#sharing.published))
    const leftMs = this.#publishedAt + MAX_AGE_MS - performance.now()
    if (isNew && leftMs > 0) await new Promise(resolve => setTimeout(resolve, leftMs))
  }

  beginClose(): void {
    this.#isClosing = true
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#isStopped = true
  }

  routeOf(type: string, routingToken: number): MaybePromise<Route | undefined> {
    const own = this.#ownSet.rankOf(type)
    if (own === RANK.exact || this.#isStopped) return undefined
    if (performance.now() - this.#viewedAt > MAX_AGE_MS) return this.#routeByNewView(type, own, routingToken)
    const route = this.#decide(type, own, routingToken)
    // A new view may have room again.
    return route?.outcome === 'dead' && routingToken < FIRST_TOKEN
      ? this.#routeByNewView(type, own, routingToken)
      : route
  }

  async #routeByNewView(type: string, own: number, routingToken: number): Promise<Route | undefined> {
    try {
      const askedAt = performance.now()
      while (this.#viewedAt < askedAt && !this.#isStopped) await this.#read()
    } catch {
      // Reported by the timer.
      return waitForView(routingToken)
    }
    return this.#decide(type, own, routingToken)
  }

  #decide(type: string, own: number, routingToken: number): Route | undefined {
    const { best, isLive } = this.#others.bestOf(type)
    const { keepMs } = this.#sharing.published
    const hasRoom = isLive || this.#room > 0
    const route = decideRoute({ type, own, best, routingToken, isLive, hasRoom, keepMs })
    if (route?.outcome !== 'postponed') return this.#isUnsure ? waitForView(routingToken) : route
    if (routingToken < FIRST_TOKEN && !isLive) this.#room--
    return route
  }

  /**
   * Returns whether processes may run that this one never saw: they published just before an outage that outlasted
   * their publication.
   */
  get #isUnsure(): boolean {
    return this.#hasLapsed || performance.now() < this.#unsureUntil
  }

  /** Returns whether our own publication has expired, through an outage of the board. */
  get #hasLapsed(): boolean {
    return performance.now() - this.#publishedAt > this.#sharing.published.keepMs
  }

  /**
   * Milliseconds for which our own publication was kept. Other processes expire by this clock: it stops in an outage of
   * the board, when they cannot renew their publications either.
   */
  get #clock(): number {
    const sinceMs = performance.now() - this.#publishedAt
    return this.#publishedFor + Math.min(sinceMs, this.#renewMs + READ_EVERY_MS)
  }

  /**
   * Interval of renewals, short enough for the publication that expires soonest: an outage in which it expires is then
   * noticed.
   */
  get #renewMs(): number {
    const keepMs = [this.#sharing.published, ...this.#others.expected].map(one => one.keepMs)
    return Math.min(MAX_RENEW_MS, Math.min(...keepMs) / RENEWALS)
  }

  async #publish(): Promise<void> {
    await inTime('handlers.publish', this.board.publish(this.#sharing.published))
    const now = performance.now()
    if (this.#hasLapsed) this.#unsureUntil = now + RETURN_MS
    this.#publishedFor = this.#clock
    this.#publishedAt = now
    this.#isLost = false
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readOnce(): Promise<void> {
    const askedAt = performance.now()
    this.#apply(await inTime('handlers.read', this.board.read()))
    this.#viewedAt = askedAt
  }

  #apply({ processes, postponed }: PresenceView): void {
    // A view without our publication means that the server lost its data: the timer's next turn publishes again.
    this.#isLost = !this.#others.see(processes, this.#sharing.published.id, this.#clock)
    const room = Math.max(1, Math.floor(this.#policy.capacity * POSTPONED_SHARE)) - postponed
    this.#room = Math.ceil(room / (this.#others.live.length + 1))
  }

  #schedule(): void {
    this.#timer = setTimeout(() => void this.#renew(), READ_EVERY_MS)
    // The timer must not keep a process alive; a connection or a file does.
    letProcessEnd(this.#timer)
  }

  async #renew(): Promise<void> {
    try {
      if (this.#isLost || performance.now() - this.#publishedAt >= this.#renewMs) await this.#publish()
      await this.#read()
      this.#isDown = false
    } catch (error) {
      if (!this.#isDown && !this.#isClosing)
        this.#policy.observe({ kind: 'store_down', operation: 'handlers', error })
      this.#isDown = true
    }
    if (!this.#isStopped) this.#schedule()
  }

  #reportDifference(): void {
    const { observe, logger } = this.#policy
    const message = describeDifference(this.#sharing.published, this.#others.expected, this.#sharing)
    if (message === undefined) return
    observe({ kind: 'notice', code: 'handlers_differ', message })
    logger.warn({ code: 'handlers_differ' }, message)
  }
}

/** Returns whether another process has a pattern that the first one lacks. */
function lacks(one: PublishedHandlers, other: PublishedHandlers): boolean {
  if (other.onUnhandled && !one.onUnhandled) return true
  return other.patterns.some(pattern => !one.patterns.includes(pattern))
}

/** Postpones an event while other processes' patterns are unknown, so that no less specific handler gets it. */
function waitForView(routingToken: number): Route {
  return { outcome: 'postponed', delayMs: MAX_AGE_MS, routingToken: Math.max(routingToken, FIRST_TOKEN) }
}

/**
 * Limits the time of a call in event-loop turns: blocking handlers delay the reply too, and that is no fault of the
 * board.
 */
async function inTime<T>(operation: string, answer: MaybePromise<T>): Promise<T> {
  const promise = Promise.resolve(answer)
  for (let turn = 0; turn < TURNS; turn++)
    if (await settlesWithin(promise, MAX_AGE_MS / TURNS)) return promise
  throw new DeadlineError(operation, MAX_AGE_MS)
}

import { withDeadline } from '../../lib/deadline.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type {
  BoardView,
  HandlerBoard,
  HandlerSharing,
  HandlersOfAll,
  InboxProcess,
  Place,
  PublishedHandlers,
} from '../handler-board.ts'
import type { ProcessingPolicy } from '../inbox.ts'
import { describeDifference } from './describe-difference.ts'
import { PatternSet, RANK } from './pattern-set.ts'
import { decidePlace, FIRST_MARK } from './place.ts'

/** An attempt relies on no older view, so a publication covers every attempt that begins so long after it. */
const MAX_AGE_MS = 1000
const READ_EVERY_MS = 500
const MAX_RENEW_MS = 10_000
/** A process that was not renewed for so long has ended, or hangs. */
const LIVE_MS = 3 * MAX_RENEW_MS
/** Of `capacity`, for events that wait for another process. */
const POSTPONED_SHARE = 0.1

type Policy = Pick<ProcessingPolicy, 'capacity' | 'observe' | 'logger'>

/**
 * What this process and the others on its inbox handle. Knows for each attempt whether another process is expected that
 * handles the type more specifically.
 */
export class SharedHandlers implements HandlersOfAll {
  readonly board: HandlerBoard
  readonly #handlers: HandlerSharing
  readonly #own: PublishedHandlers
  readonly #policy: Policy
  readonly #ownSet = new PatternSet()
  #others: readonly InboxProcess[] = []
  /** All of theirs together. `undefined` while they have nothing that this process lacks. */
  #othersSet: PatternSet | undefined
  /** How many more events may wait before the next view. */
  #room = 0
  /** When the view was asked for, and the own publication stored. Monotonic milliseconds. */
  #viewedAt = Number.NEGATIVE_INFINITY
  #publishedAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isDown = false
  #isStopped = false

  constructor(board: HandlerBoard, handlers: HandlerSharing, policy: Policy) {
    this.board = board
    this.#handlers = handlers
    this.#own = handlers.own
    this.#policy = policy
    this.#ownSet.add(this.#own)
  }

  async begin(): Promise<void> {
    await this.#publish()
    await this.#read()
    this.#reportDifference()
    if (!this.#isStopped) this.#schedule()
  }

  async settled(): Promise<void> {
    const isNew = this.#others.some(one => one.seenMs < LIVE_MS && lacks(one, this.#own))
    const leftMs = this.#publishedAt + MAX_AGE_MS - performance.now()
    if (isNew && leftMs > 0) await new Promise(resolve => setTimeout(resolve, leftMs))
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#isStopped = true
  }

  placeOf(type: string, mark: number): MaybePromise<Place | undefined> {
    const own = this.#ownSet.rankOf(type)
    if (own === RANK.exact || this.#isStopped) return undefined
    if (performance.now() - this.#viewedAt > MAX_AGE_MS) return this.#placeByNewView(type, own, mark)
    if (this.#othersSet === undefined && mark === 0) return undefined
    const place = this.#decide(type, own, mark)
    // Perhaps there is room again.
    return place?.outcome === 'dead' && mark === 0 ? this.#placeByNewView(type, own, mark) : place
  }

  async #placeByNewView(type: string, own: number, mark: number): Promise<Place | undefined> {
    try {
      const askedAt = performance.now()
      while (this.#viewedAt < askedAt && !this.#isStopped) await this.#read()
    } catch {
      // Reported by the timer. What the others handle is unknown, so nothing is left to a less specific handler.
      return { outcome: 'postponed', delayMs: MAX_AGE_MS, mark: mark || FIRST_MARK }
    }
    return this.#decide(type, own, mark)
  }

  #decide(type: string, own: number, mark: number): Place | undefined {
    const best = this.#othersSet?.rankOf(type) ?? RANK.none
    const { keepMs } = this.#own
    const place = decidePlace({ type, own, best, mark, hasRoom: this.#room > 0, keepMs })
    if (place?.outcome === 'postponed' && mark === 0) this.#room--
    return place
  }

  async #publish(): Promise<void> {
    await inTime('handlers.publish', this.board.publish(this.#own))
    this.#publishedAt = performance.now()
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

  #apply({ processes, postponed }: BoardView): void {
    this.#others = processes.filter(({ id }) => id !== this.#own.id)
    // A server that has lost its data: the next turn of the timer publishes again.
    if (this.#others.length === processes.length) this.#publishedAt = Number.NEGATIVE_INFINITY
    const differing = this.#others.filter(one => lacks(this.#own, one))
    this.#othersSet = differing.length > 0 ? new PatternSet() : undefined
    for (const one of this.#others) this.#othersSet?.add(one)
    const room = Math.floor(this.#policy.capacity * POSTPONED_SHARE) - postponed
    const live = this.#others.filter(({ seenMs }) => seenMs < LIVE_MS)
    this.#room = Math.ceil(room / (live.length + 1))
  }

  #schedule(): void {
    this.#timer = setTimeout(() => void this.#renew(), READ_EVERY_MS)
    // It must not keep a process alive; a connection or a file does.
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  async #renew(): Promise<void> {
    const renewMs = Math.min(MAX_RENEW_MS, this.#own.keepMs / 4)
    try {
      if (performance.now() - this.#publishedAt >= renewMs) await this.#publish()
      await this.#read()
      this.#isDown = false
    } catch (error) {
      if (!this.#isDown) this.#policy.observe({ kind: 'store_down', operation: 'handlers', error })
      this.#isDown = true
    }
    if (!this.#isStopped) this.#schedule()
  }

  #reportDifference(): void {
    const { observe, logger } = this.#policy
    const message = describeDifference(this.#own, this.#others, this.#handlers)
    if (message === undefined) return
    observe({ kind: 'notice', code: 'handlers_differ', message })
    logger.warn({ code: 'handlers_differ' }, message)
  }
}

/** Whether another process has a pattern that the first one lacks. */
function lacks(one: PublishedHandlers, other: PublishedHandlers): boolean {
  if (other.onUnhandled && !one.onUnhandled) return true
  return other.patterns.some(pattern => !one.patterns.includes(pattern))
}

function inTime<T>(operation: string, answer: MaybePromise<T>): Promise<T> {
  return withDeadline(Promise.resolve(answer), { operation, ms: MAX_AGE_MS })
}

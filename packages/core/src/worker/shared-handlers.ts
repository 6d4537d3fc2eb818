import { platform } from '#platform'
import type { Attempt } from '../inbox/attempt.ts'
import type {
  BoardView,
  HandlerBoard,
  HandlerSharing,
  InboxProcess,
  PublishedHandlers,
} from '../inbox/handler-board.ts'
import type { ProcessingPolicy } from '../inbox/inbox.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'
import { VERSION } from '../lib/version.ts'
import { describeDifference } from './describe-difference.ts'
import type { HandlerRegistry } from './handler-registry.ts'
import { PatternSet, RANK } from './pattern-set.ts'
import { decidePlace, FIRST_MARK, type Place } from './place.ts'

/** An attempt relies on no older view, so a publication covers every attempt that begins so long after it. */
const MAX_AGE_MS = 1000
const READ_EVERY_MS = 500
const MAX_RENEW_MS = 10_000
/** A process that was not renewed for so long has ended, or hangs. */
const LIVE_MS = 3 * MAX_RENEW_MS
/** Of `capacity`, for events that wait for another process. */
const POSTPONED_SHARE = 0.1

export interface SharedHandlersParts
  extends Pick<ProcessingPolicy, 'capacity' | 'clock' | 'observe' | 'logger'> {
  readonly handlers: HandlerRegistry
  readonly handlerWaitMs: number
  /** For the notice. */
  readonly location: string | undefined
  readonly namespace: unknown
}

/**
 * What this process and the others on its inbox handle. Knows for each attempt whether another process is expected that
 * handles the type more specifically.
 */
export class SharedHandlers implements HandlerSharing {
  readonly #parts: SharedHandlersParts
  readonly #ownSet = new PatternSet()
  #own: PublishedHandlers | undefined
  #board: HandlerBoard | undefined
  /** Whether there is a board to ask. A field, because every attempt looks at it. */
  isShared = false
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

  constructor(parts: SharedHandlersParts) {
    this.#parts = parts
  }

  /** Made by the first use, when the handlers are frozen. */
  get own(): PublishedHandlers {
    if (this.#own === undefined) {
      const { handlers, clock, handlerWaitMs } = this.#parts
      this.#own = {
        id: crypto.randomUUID(),
        process: platform.processName(),
        version: VERSION,
        startedAt: clock(),
        patterns: handlers.patterns(),
        onUnhandled: handlers.listeners.onUnhandled.length > 0,
        keepMs: handlerWaitMs,
      }
      this.#ownSet.add(this.#own)
    }
    return this.#own
  }

  async share(board: HandlerBoard): Promise<void> {
    this.stop()
    this.#board = board
    this.isShared = true
    await this.#publish(board)
    await this.#read(board)
    this.#reportDifference()
    this.#schedule()
  }

  /**
   * Resolves when no attempt of another process can begin any more that does not know these handlers: at once where no
   * live process lacks one of them.
   */
  async settled(): Promise<void> {
    const isNew = this.#others.some(one => one.seenMs < LIVE_MS && lacks(one, this.own))
    const leftMs = this.#publishedAt + MAX_AGE_MS - performance.now()
    if (isNew && leftMs > 0) await new Promise(resolve => setTimeout(resolve, leftMs))
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#board = undefined
    this.isShared = false
  }

  /** Where an event goes whose attempt must not begin here. `undefined`, and nothing to wait for, in the ordinary case. */
  placeOf(type: string, { mark }: Attempt): MaybePromise<Place | undefined> {
    if (this.#board === undefined) return undefined
    const own = this.#ownSet.rankOf(type)
    if (own === RANK.exact) return undefined
    if (performance.now() - this.#viewedAt > MAX_AGE_MS) return this.#placeByNewView(type, own, mark)
    if (this.#othersSet === undefined && mark === 0) return undefined
    const place = this.#decide(type, own, mark)
    // Perhaps there is room again.
    return place?.outcome === 'dead' && mark === 0 ? this.#placeByNewView(type, own, mark) : place
  }

  async #placeByNewView(type: string, own: number, mark: number): Promise<Place | undefined> {
    try {
      const askedAt = performance.now()
      while (this.#viewedAt < askedAt && this.#board !== undefined) await this.#read(this.#board)
    } catch {
      // Reported by the timer. What the others handle is unknown, so nothing is left to a less specific handler.
      return { outcome: 'postponed', delayMs: MAX_AGE_MS, mark: mark || FIRST_MARK }
    }
    return this.#decide(type, own, mark)
  }

  #decide(type: string, own: number, mark: number): Place | undefined {
    const best = this.#othersSet?.rankOf(type) ?? RANK.none
    const { handlerWaitMs: keepMs } = this.#parts
    const place = decidePlace({ type, own, best, mark, hasRoom: this.#room > 0, keepMs })
    if (place?.outcome === 'postponed' && mark === 0) this.#room--
    return place
  }

  async #publish(board: HandlerBoard): Promise<void> {
    await inTime('handlers.publish', board.publish(this.own))
    this.#publishedAt = performance.now()
  }

  #read(board: HandlerBoard): Promise<void> {
    this.#reading ??= this.#readOnce(board).finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readOnce(board: HandlerBoard): Promise<void> {
    const askedAt = performance.now()
    this.#apply(await inTime('handlers.read', board.read()))
    this.#viewedAt = askedAt
  }

  #apply({ processes, postponed }: BoardView): void {
    this.#others = processes.filter(({ id }) => id !== this.own.id)
    // A server that has lost its data: the next turn of the timer publishes again.
    if (this.#others.length === processes.length) this.#publishedAt = Number.NEGATIVE_INFINITY
    const differing = this.#others.filter(one => lacks(this.own, one))
    this.#othersSet = differing.length > 0 ? new PatternSet() : undefined
    for (const one of this.#others) this.#othersSet?.add(one)
    const room = Math.floor(this.#parts.capacity * POSTPONED_SHARE) - postponed
    const live = this.#others.filter(({ seenMs }) => seenMs < LIVE_MS)
    this.#room = Math.ceil(room / (live.length + 1))
  }

  #schedule(): void {
    this.#timer = setTimeout(() => void this.#renew(), READ_EVERY_MS)
    // It must not keep a process alive; a connection or a file does.
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  async #renew(): Promise<void> {
    const board = this.#board
    if (board === undefined) return
    const renewMs = Math.min(MAX_RENEW_MS, this.#parts.handlerWaitMs / 4)
    try {
      if (performance.now() - this.#publishedAt >= renewMs) await this.#publish(board)
      await this.#read(board)
      this.#isDown = false
    } catch (error) {
      if (!this.#isDown) this.#parts.observe({ kind: 'store_down', operation: 'handlers', error })
      this.#isDown = true
    }
    if (this.#board === board) this.#schedule()
  }

  #reportDifference(): void {
    const { location, namespace, observe, logger } = this.#parts
    const message = describeDifference(this.own, this.#others, { location, namespace })
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

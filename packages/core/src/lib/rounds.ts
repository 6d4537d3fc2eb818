import { DeadlineError } from './deadline.ts'
import { letProcessEnd } from './let-process-end.ts'
import type { MaybePromise } from './maybe-promise.ts'

/** The recurring work of one receiver, for a gauge of when each last completed. */
export class RoundsBoard {
  readonly #all = new Set<Pick<Rounds<unknown>, 'name' | 'sinceCompletedMs'>>()

  add(rounds: Pick<Rounds<unknown>, 'name' | 'sinceCompletedMs'>): void {
    this.#all.add(rounds)
  }

  remove(rounds: Pick<Rounds<unknown>, 'name' | 'sinceCompletedMs'>): void {
    this.#all.delete(rounds)
  }

  /** Returns the time since a round of each kind last succeeded, or since the kind began if none has. The longest of a name. */
  read(): ReadonlyMap<string, number> {
    const longest = new Map<string, number>()
    for (const { name, sinceCompletedMs } of this.#all)
      longest.set(name, Math.max(sinceCompletedMs, longest.get(name) ?? 0))
    return longest
  }
}

/** Tools of one round. */
export interface Round {
  /** Aborted when the round is given up, or the rounds end: what it still does must have no effect then. */
  readonly signal: AbortSignal
  /** Begins the deadline anew: a round that does a little at a time may take as long as it must. */
  readonly progressed: () => void
}

/** What one loop does, how often, and whom it tells. */
export interface RoundsParts<Result> {
  /** For its deadline's error, and for tools: `reconcile`. */
  readonly name: string
  readonly board?: RoundsBoard | undefined
  /** Time without progress after which a round is given up, and so has failed. */
  readonly deadlineMs: number
  /** Does one round. */
  readonly run: (round: Round) => MaybePromise<Result>
  /** Returns the milliseconds from a successful round until the next. */
  readonly succeeded: (result: Result) => number
  /** Tells that a round failed, for the `failures`-th time in a row. Returns the milliseconds until the next. */
  readonly failed: (error: unknown, failures: number) => number
}

/**
 * Recurring work of ours. No round stops those after it: one that hangs is given up at its deadline, and each failure is
 * passed on. Keeps no process alive.
 */
export class Rounds<Result> {
  readonly #parts: RoundsParts<Result>
  readonly #ending = new AbortController()
  #running: Promise<Result> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  /** When a round last succeeded, or the first was planned, by the monotonic clock. */
  #completedAt = performance.now()

  constructor(parts: RoundsParts<Result>) {
    this.#parts = parts
    parts.board?.add(this)
  }

  get name(): string {
    return this.#parts.name
  }

  /** Milliseconds since a round last succeeded, or since these began if none has. */
  get sinceCompletedMs(): number {
    return performance.now() - this.#completedAt
  }

  get hasEnded(): boolean {
    return this.#ending.signal.aborted
  }

  /** Plans the next round in this time, instead of any that was planned. */
  next(ms: number): void {
    if (this.hasEnded) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#turn(), ms)
    letProcessEnd(this.#timer)
  }

  /** Runs a round now, unless one is under way, and then waits for that one. Rejects if it fails. */
  async now(): Promise<Result> {
    this.#ending.signal.throwIfAborted()
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    return this.#running
  }

  /** Gives up the round under way. Resolves once it has been. Never rejects. */
  async end(reason: unknown = new Error('The work has ended.')): Promise<void> {
    clearTimeout(this.#timer)
    this.#parts.board?.remove(this)
    this.#ending.abort(reason)
    await this.#running?.catch(() => {})
  }

  async #turn(): Promise<void> {
    const { succeeded, failed } = this.#parts
    let nextMs: number
    try {
      nextMs = succeeded(await this.now())
      this.#failures = 0
    } catch (error) {
      if (this.hasEnded) return
      nextMs = failed(error, ++this.#failures)
    }
    this.next(nextMs)
  }

  /** One round under its deadline. Rejects at once if the rounds end, whether or not the round heeds its signal. */
  #run(): Promise<Result> {
    const { name, deadlineMs, run } = this.#parts
    const ending = this.#ending.signal
    const abort = new AbortController()
    let progressedAt = performance.now()
    const progressed = (): void => {
      progressedAt = performance.now()
    }
    return new Promise((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout>
      const settle = (): void => {
        clearTimeout(timer)
        ending.removeEventListener('abort', end)
      }
      const giveUp = (reason: unknown): void => {
        settle()
        abort.abort(reason)
        reject(reason)
      }
      const end = (): void => giveUp(ending.reason)
      const watch = (ms: number): void => {
        timer = setTimeout(() => {
          const leftMs = progressedAt + deadlineMs - performance.now()
          if (leftMs > 0) watch(leftMs)
          else giveUp(new DeadlineError(name, deadlineMs))
        }, ms)
        letProcessEnd(timer)
      }
      ending.addEventListener('abort', end)
      watch(deadlineMs)
      const completed = (result: Result): void => {
        if (!abort.signal.aborted) this.#completedAt = performance.now()
        settle()
        resolve(result)
      }
      const failed = (error: unknown): void => {
        settle()
        reject(error)
      }
      Promise.resolve()
        .then(() => run({ signal: abort.signal, progressed }))
        .then(completed, failed)
    })
  }
}

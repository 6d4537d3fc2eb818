import { describeError } from '../errors/errors.ts'
import { letProcessEnd } from '../lib/let-process-end.ts'
import type { Logger } from '../observe/logger.ts'

/** A server that was down is noticed within this time. */
const MAX_PAUSE_MS = 5000
const MIN_PAUSE_MS = 250
/** Time after which a start that has neither succeeded nor failed is told. */
const SLOW_MS = 10_000

export interface RepeatedStartParts {
  readonly logger: Logger
  /** Starts once, or waits for the start under way. */
  readonly start: () => Promise<void>
  /** Returns whether an error is in the log already. */
  readonly isLogged: (error: unknown) => boolean
}

/** A start that nobody awaits: tries again until it succeeds, and never rejects. */
export class RepeatedStart {
  readonly #parts: RepeatedStartParts
  /** Texts of the failures that were logged, each once, without numbers: some differ every time. */
  readonly #told = new Set<string>()
  #keepsProcess = false
  #isRunning = false
  #isOver = false
  #isToldSlow = false
  #failures = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #slowTimer: ReturnType<typeof setInterval> | undefined

  constructor(parts: RepeatedStartParts) {
    this.#parts = parts
  }

  /** `keepsProcess`: nothing else keeps the process alive until the start has succeeded. */
  begin({ keepsProcess }: { readonly keepsProcess: boolean }): void {
    this.#keepsProcess ||= keepsProcess
    if (!this.#isRunning && !this.#isOver) void this.#try()
  }

  stop(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    clearInterval(this.#slowTimer)
  }

  async #try(): Promise<void> {
    this.#isRunning = true
    // Fires again and again, since it alone may keep a process alive whose start hangs.
    this.#slowTimer = setInterval(() => this.#tellSlow(), SLOW_MS)
    if (!this.#keepsProcess) letProcessEnd(this.#slowTimer)
    const isToTryAgain = await this.#parts.start().then(
      () => false,
      (error: unknown) => this.#failed(error),
    )
    clearInterval(this.#slowTimer)
    if (isToTryAgain) this.#wait()
    else this.stop()
  }

  /** Returns whether to try again. */
  #failed(error: unknown): boolean {
    if (this.#isOver) return false
    const text = describeError(error)
    const kind = text.replace(/\d+/g, '0')
    if (this.#parts.isLogged(error) || this.#told.has(kind)) return true
    this.#told.add(kind)
    this.#parts.logger.error(
      { code: 'start_failed', err: error },
      `The receiver could not start: ${text}. It tries again every few seconds. Until it succeeds, deliveries get 503 and stored events wait.`,
    )
    return true
  }

  #tellSlow(): void {
    if (this.#isToldSlow) return
    this.#isToldSlow = true
    this.#parts.logger.error(
      { code: 'start_slow' },
      `The receiver has been starting for ${SLOW_MS / 1000} s: its inbox or store does not respond. Until it does, deliveries get 503 and stored events wait.`,
    )
  }

  #wait(): void {
    if (this.#isOver) return
    const ms = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** this.#failures++)
    this.#timer = setTimeout(() => void this.#try(), ms)
    if (!this.#keepsProcess) letProcessEnd(this.#timer)
  }
}

import { CODES } from '../errors/codes.ts'
import { DOCS } from '../errors/errors.ts'
import type { Refusal } from '../errors/refusal.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import { onceAMinute } from '../lib/once-a-minute.ts'
import type { Logger } from './logger.ts'

const MINUTE_MS = 60_000

/**
 * Logs why requests were refused: a wrong secret must be seen, and a flood of forgeries must not fill a disk. Also logs
 * the outages of an inbox or its store: the first failure, and when it works again. That failure is an error, unlike a
 * 503: where a process only works, no sender notices, and nothing is handled until someone does.
 */
export class FailureLog {
  readonly #logger: Logger
  /** Tells in a sentence how full the inbox is, if that is known. Never rejects. */
  readonly #fullness: () => MaybePromise<string | undefined>
  readonly #report = onceAMinute((refusal: Refusal, more) => this.#write(refusal, more))
  #outage: { readonly since: number; readonly quietMs: number; failedAt: number; refused: number } | undefined
  #endedAt = Number.NEGATIVE_INFINITY

  constructor(logger: Logger, fullness: () => MaybePromise<string | undefined>) {
    this.#logger = logger
    this.#fullness = fullness
  }

  /** Counts a refusal that an outage explains, and reports any other. */
  refused(refusal: Refusal): void {
    const { code, level, detail, cause } = refusal
    const isOutage = code === 'store_unavailable' || code === 'inbox_unavailable'
    // A delivery that waited for a slow start does not have its cause.
    if (isOutage && detail === undefined) this.failed('accept', cause)
    if (isOutage && this.#outage !== undefined) this.#outage.refused++
    else this.#report(level === undefined ? code : `${code}!`, refusal)
  }

  /** Begins an outage, or finds it going on. */
  failed(operation: string, err: unknown): void {
    const now = performance.now()
    // An outage that comes and goes is over only once it has stayed away for a minute.
    const quietMs = now - this.#endedAt < MINUTE_MS ? MINUTE_MS : 0
    const outage = this.#outage
    this.#outage = { since: now, quietMs, refused: 0, ...outage, failedAt: now }
    if (outage !== undefined) return
    this.#logger.error(
      { code: 'store_down', operation, err },
      `The inbox or its store failed in '${operation}'. Check its server or disk: err has the cause. Until it works, deliveries may be refused, and events wait or run again; no stored event is lost.`,
    )
  }

  /** Something worked that was begun at a monotonic time. */
  worked(begunAt: number): void {
    if (this.#outage === undefined) return
    const { since, quietMs, failedAt, refused } = this.#outage
    if (begunAt <= failedAt + quietMs) return
    this.#outage = undefined
    this.#endedAt = performance.now()
    const seconds = Math.round((this.#endedAt - since) / 1000)
    this.#logger.info(
      { code: 'store_up', seconds, refused },
      `The inbox or its store works again after ${seconds} s, ${refused} deliveries were refused.`,
    )
  }

  async #write({ code, detail, cause, level: given }: Refusal, more: string): Promise<void> {
    const asked = code === 'capacity_exceeded' ? this.#fullness() : ''
    const figures = (isPromise(asked) ? await asked : asked) ?? ''
    const { status, message } = CODES[code]
    const reason = detail === undefined ? message : `${detail}${detail.endsWith('?') ? '' : '.'}`
    const level = given ?? (status === 405 ? 'info' : status >= 500 && status !== 503 ? 'error' : 'warn')
    this.#logger[level](
      { code, status, ...(cause !== undefined && { err: cause }) },
      `Webhook answered ${status} ${code}${more}: ${reason}${figures} See ${DOCS}errors.md#refused`,
    )
  }
}

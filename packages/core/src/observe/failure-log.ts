import { CODES } from '../errors/codes.ts'
import { DOCS, describeError } from '../errors/errors.ts'
import type { Refusal } from '../errors/refusal.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import { onceAMinute } from '../lib/once-a-minute.ts'
import type { Logger } from './logger.ts'

const MINUTE_MS = 60_000
/** The first failures often say only that a connection is closed, and those of its next attempts say why. */
const UNCLEAR_MS = 2000

interface Outage {
  /** Monotonic milliseconds. */
  readonly since: number
  /** Without a failure, until it is over. */
  readonly quietMs: number
  failedAt: number
  refused: number
  /** The cause that was logged last, and when. */
  told: string
  toldAt: number
  /** The last failure. */
  operation: string
  err: unknown
}

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
  #outage: Outage | undefined
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
    if (this.#outage === undefined) {
      // An outage that comes and goes is over only once it has stayed away for a minute.
      const quietMs = now - this.#endedAt < MINUTE_MS ? MINUTE_MS : 0
      const told = { told: '', toldAt: Number.NEGATIVE_INFINITY }
      const outage = { since: now, quietMs, failedAt: now, refused: 0, ...told, operation, err }
      this.#outage = outage
      const timer: unknown = setTimeout(() => this.#tell(outage), UNCLEAR_MS)
      ;(timer as { unref?(): void }).unref?.()
    }
    Object.assign(this.#outage, { failedAt: now, operation, err })
    if (operation === 'start' || now - this.#outage.since > UNCLEAR_MS) this.#tell(this.#outage)
  }

  /** Something worked that was begun at a monotonic time. */
  worked(begunAt: number): void {
    const outage = this.#outage
    if (outage === undefined || begunAt <= outage.failedAt + outage.quietMs) return
    this.#tell(outage)
    this.#outage = undefined
    this.#endedAt = performance.now()
    const seconds = Math.round((this.#endedAt - outage.since) / 1000)
    const message = `The inbox or its store works again after ${seconds} s, ${outage.refused} deliveries were refused.`
    this.#logger.info({ code: 'store_up', seconds, refused: outage.refused }, message)
  }

  /** Logs the cause once, and another one that shows later. */
  #tell(outage: Outage): void {
    const { operation, err } = outage
    const cause = describeError(err)
    if (outage.told === cause || performance.now() - outage.toldAt < MINUTE_MS) return
    Object.assign(outage, { told: cause, toldAt: performance.now() })
    this.#logger.error(
      { code: 'store_down', operation, err },
      `The inbox or its store failed in '${operation}'. Check its server or disk: err has the cause. Until it works, deliveries may be refused, and events wait or run again; no stored event is lost.`,
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

import { CODES } from '../errors/codes.ts'
import { DOCS, describeError } from '../errors/errors.ts'
import type { Refusal } from '../errors/refusal.ts'
import { letProcessEnd } from '../lib/let-process-end.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import { onceAMinute } from '../lib/once-a-minute.ts'
import type { Logger } from './logger.ts'

const MINUTE_MS = 60_000
/**
 * Time to collect an outage's causes. Some failures say only that a connection is closed; earlier or later ones say
 * why.
 */
const UNCLEAR_MS = 2000

/** Maximum number of causes kept for an outage: some messages differ every time. */
const MOST_CAUSES = 5

interface Outage {
  /** Monotonic milliseconds. */
  readonly since: number
  /** Quiet time, without a failure, after which an outage is over. */
  readonly quietMs: number
  /** Errors by their text. */
  readonly causes: Map<string, unknown>
  failedAt: number
  toldAt: number
  /** Number of causes that were logged. */
  told: number
  refused: number
}

/**
 * Logs why requests were refused: a wrong secret must be visible, and a flood of forgeries must not fill a disk. Also
 * logs outages of an inbox or its store: the first failure and the recovery. That failure is an error, unlike a 503: in
 * a process that only works, no sender would notice it.
 */
export class FailureLog {
  readonly #logger: Logger
  /** Returns a sentence about how full the inbox is, if that is known. Never rejects. */
  readonly #fullness: () => MaybePromise<string | undefined>
  readonly #report = onceAMinute((refusal: Refusal, more) => this.#write(refusal, more))
  /** Reports an event that was resent with different bytes, grouped by consequence. */
  readonly conflicted: (
    consequence: string,
    event: { readonly event: string; readonly type: string },
  ) => void = onceAMinute((event, more, _, consequence) => {
    this.#logger.warn(event, `Event ${event.event} was resent with different bytes${more}; ${consequence}.`)
  })
  /** Current outage. Read at each acceptance, without a call. */
  outage: Outage | undefined
  #endedAt = Number.NEGATIVE_INFINITY

  constructor(logger: Logger, fullness: () => MaybePromise<string | undefined>) {
    this.#logger = logger
    this.#fullness = fullness
  }

  /** Counts a refusal that an outage explains, and reports any other. */
  refused(refusal: Refusal): void {
    const { code, level, detail, cause } = refusal
    const isOutage = code === 'store_unavailable' || code === 'inbox_unavailable'
    // A delivery that waited for a slow start does not carry the start's error.
    if (isOutage && detail === undefined) this.failed('accept', cause)
    if (isOutage && this.outage !== undefined) this.outage.refused++
    else this.#report(level === undefined ? code : `${code}!`, refusal)
  }

  /** Begins an outage, or continues the current one. */
  failed(operation: string, err: unknown): void {
    const now = performance.now()
    // A recurring outage is over only after a minute without a failure.
    const quietMs = now - this.#endedAt < MINUTE_MS ? MINUTE_MS : 0
    const isFirst = this.outage === undefined
    const counts = { failedAt: now, toldAt: Number.NEGATIVE_INFINITY, told: 0, refused: 0 }
    const outage = this.outage ?? { since: now, quietMs, causes: new Map(), ...counts }
    this.outage = outage
    outage.failedAt = now
    if (outage.causes.size < MOST_CAUSES) outage.causes.set(describeError(err), err)
    if (isFirst) letProcessEnd(setTimeout(() => this.#tell(outage, operation), UNCLEAR_MS))
    if (operation === 'start' || now - outage.since > UNCLEAR_MS) this.#tell(outage, operation)
  }

  /** Ends an outage, because something worked that began at this monotonic time. */
  worked(begunAt: number): void {
    const outage = this.outage
    if (outage === undefined || begunAt <= outage.failedAt + outage.quietMs) return
    this.#tell(outage, 'accept')
    this.outage = undefined
    this.#endedAt = performance.now()
    const seconds = Math.round((this.#endedAt - outage.since) / 1000)
    const message = `The inbox or its store works again after ${seconds} s; ${outage.refused} deliveries were refused.`
    this.#logger.info({ code: 'store_up', seconds, refused: outage.refused }, message)
  }

  /** Logs the known causes in one line, and later ones once a minute. */
  #tell(outage: Outage, operation: string): void {
    const { causes, told, toldAt } = outage
    if (causes.size === told || performance.now() - toldAt < MINUTE_MS) return
    Object.assign(outage, { told: causes.size, toldAt: performance.now() })
    const errors = [...causes.values()]
    const err = errors.length === 1 ? errors[0] : new AggregateError(errors, [...causes.keys()].join('; '))
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
      `Webhook refused with ${status} ${code}${more}: ${reason}${figures} See ${DOCS}errors.md#refused`,
    )
  }
}

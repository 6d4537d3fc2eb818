import { CODES } from '../errors/codes.ts'
import { DOCS, describeError } from '../errors/errors.ts'
import type { Refusal } from '../errors/refusal.ts'
import { letProcessEnd } from '../lib/let-process-end.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import { onceAMinute } from '../lib/once-a-minute.ts'
import type { Logger } from './logger.ts'
import type { Observation } from './observation.ts'

const MINUTE_MS = 60_000
/**
 * Time to collect an outage's causes. Some failures say only that a connection is closed; earlier or later ones say
 * why.
 */
const UNCLEAR_MS = 2000

/** Maximum number of kinds of causes kept for an outage. */
const MOST_CAUSES = 5
/** What a server says that is not, or not any more, the one that writes: a replica, or a former primary. */
const FAILOVER = /READONLY|UNBLOCKED|MASTERDOWN|read-only transaction|in recovery/

interface Outage {
  /** Monotonic milliseconds. */
  readonly since: number
  /** Quiet time, without a failure, after which an outage is over. */
  readonly quietMs: number
  /** The first error of each kind, by its text without numbers: some messages differ every time. */
  readonly causes: Map<string, unknown>
  failedAt: number
  /** Number of causes that were logged. */
  told: number
  refused: number
}

/** An outage, as tools see it. */
export interface OutageState {
  readonly cause: string
  /** Milliseconds since the last failure. */
  readonly failedMs: number
}

type LostEvent = { readonly id: string; readonly type: string }

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
  readonly #leaseLost: (reason: string, event: LostEvent) => void = onceAMinute(({ id, type }, more) => {
    this.#logger.warn(
      { code: 'lease_lost', event: id, type },
      `Event ${id} (${type}) was lost to other processes while this one handled it${more}: it may run twice. ${this.#whyLost()}`,
    )
  })
  /** Current outage. Read at each acceptance, without a call. */
  outage: Outage | undefined
  #endedAt = Number.NEGATIVE_INFINITY

  constructor(logger: Logger, fullness: () => MaybePromise<string | undefined>) {
    this.#logger = logger
    this.#fullness = fullness
  }

  /** Current outage for tools: what caused it, and the time since its last failure. */
  get state(): OutageState | undefined {
    if (this.outage === undefined) return undefined
    const cause = [...this.outage.causes.values()].map(describeError).join('; ')
    return { cause, failedMs: performance.now() - this.outage.failedAt }
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

  /** Logs the observations that only an operator of the inbox can do something about. */
  observed(observation: Observation): void {
    if (observation.kind === 'store_down') this.failed(observation.operation, observation.error)
    else if (observation.kind === 'lease_lost') this.leaseLost(observation)
  }

  /** Begins an outage, or continues the current one. */
  failed(operation: string, err: unknown): void {
    const now = performance.now()
    // A recurring outage is over only after a minute without a failure.
    const quietMs = now - this.#endedAt < MINUTE_MS ? MINUTE_MS : 0
    const isFirst = this.outage === undefined
    const counts = { failedAt: now, told: 0, refused: 0 }
    const outage = this.outage ?? { since: now, quietMs, causes: new Map(), ...counts }
    this.outage = outage
    outage.failedAt = now
    const kind = describeError(err).replace(/\d+/g, '0')
    if (outage.causes.size < MOST_CAUSES && !outage.causes.has(kind)) outage.causes.set(kind, err)
    if (isFirst) letProcessEnd(setTimeout(() => this.#tell(outage, operation), UNCLEAR_MS))
    if (operation === 'start' || now - outage.since > UNCLEAR_MS) this.#tell(outage, operation)
  }

  /** Logs that another process may have taken an event, once a minute: whatever stopped this process lost many. */
  leaseLost({ id, type }: LostEvent): void {
    this.#leaseLost('lease_lost', { id, type })
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
    // A warning like the outage itself: the default logger drops `info`.
    this.#logger.warn({ code: 'store_up', seconds, refused: outage.refused }, message)
  }

  /** Logs the known causes in one line, and again with each new kind, of which there are few. */
  #tell(outage: Outage, operation: string): void {
    const { causes, told } = outage
    if (causes.size === told) return
    outage.told = causes.size
    const errors = [...causes.values()]
    const texts = errors.map(describeError).join('; ')
    const err = errors.length === 1 ? errors[0] : new AggregateError(errors, texts)
    const failover = FAILOVER.test(texts) ? ` ${FAILED_OVER}` : ''
    this.#logger.error(
      { code: 'store_down', operation, err },
      `The inbox or its store failed in '${operation}'. Check its server or disk: err has the cause. Until it works, deliveries may be refused, and events wait or run again.${failover}`,
    )
  }

  #whyLost(): string {
    const outage = this.outage
    if (outage !== undefined)
      return `The inbox or its store fails: ${[...outage.causes.values()].map(describeError).join('; ')}.`
    if (performance.now() - this.#endedAt < MINUTE_MS)
      return 'The inbox or its store had failed shortly before.'
    return STOOD_STILL
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

const FAILED_OVER =
  'This looks like a failover: events that the former primary had acknowledged, but not copied yet, are missing.'
const STOOD_STILL =
  'No failure of the inbox or its store is known. Perhaps this process stood still for longer than its lease: a handler that blocks the event loop, a paused container or a suspended machine.'

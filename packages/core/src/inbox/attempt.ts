import { AckhookError } from '../errors/errors.ts'
import type { HandlerContext } from '../events/event-types.ts'
import { ABANDONED, type CrashDecision } from './crash-policy.ts'
import type { Delivery } from './delivery.ts'

/** One attempt at one event, shared by the inbox and the worker. */
export interface Attempt {
  readonly number: number
  /** Decision of `crashPolicy`. Unless it is `'run'`, no handler runs and `number` is the last attempt that began. */
  readonly decision: CrashDecision
  /** Reason why the event becomes a dead letter if the decision is `'abandon'`. */
  readonly abandonReason: string
  /**
   * Opaque number from an earlier result for this event. The inbox keeps it and passes it back unchanged; `0` if there
   * is none.
   */
  readonly routingToken: number
  readonly signal: AbortSignal
  /** Reason why the attempt was withdrawn; `undefined` if it was not. */
  readonly abortReason: AckhookError | undefined
  /** Withdraws the attempt: the signal aborts, and the result of the handlers no longer counts. */
  abort(reason: AckhookError): void
  /**
   * Calls `listener` when the attempt is withdrawn, or at once if it already was. Listeners run in the order they were
   * added.
   */
  onAbort(listener: (reason: AckhookError) => void): void
  /**
   * Calls `listener` if the inbox withdraws the attempt after its time limit, while handlers that ignore their signal
   * still run, or at once if it already has. Only one listener, the worker's.
   */
  onGivenAway(listener: () => void): void
}

const MIN_OVERRUN_MS = 60_000
const MAX_OVERRUN_MS = 3_600_000

/**
 * Returns how long after their time limit handlers that ignore their signal keep their event: its turn, its lease and its
 * slot. After that another attempt may run beside them.
 */
export function maxOverrunMs(handlerTimeoutMs: number): number {
  return Math.min(MAX_OVERRUN_MS, Math.max(MIN_OVERRUN_MS, 10 * handlerTimeoutMs))
}

/** Returns whether the attempt failed because of its time limit. */
export function isTimedOut({ abortReason }: Pick<Attempt, 'abortReason'>): boolean {
  return abortReason?.code === 'handler_timeout'
}

/** Creates an attempt whose `AbortSignal` is created only when a handler reads it; most never do. */
export function createAttempt(
  number: number,
  decision: CrashDecision = 'run',
  routingToken = 0,
  abandonReason: string = ABANDONED,
): Attempt {
  return new LazyAttempt(number, decision, routingToken, abandonReason)
}

/** In the place of the listener, once the inbox has withdrawn the attempt after its time limit. */
function GIVEN_AWAY(): void {}

/** Avoids an object literal with a getter, which is far slower to create than an instance. perf: note 6. */
class LazyAttempt implements Attempt {
  readonly number: number
  readonly decision: CrashDecision
  readonly routingToken: number
  readonly abandonReason: string
  #controller: AbortController | undefined
  abortReason: AckhookError | undefined
  /** The worker's, which is the only one as a rule. */
  #listener: ((reason: AckhookError) => void) | undefined
  #moreListeners: ((reason: AckhookError) => void)[] | undefined
  #giveAway: (() => void) | undefined

  constructor(number: number, decision: CrashDecision, routingToken: number, abandonReason: string) {
    this.number = number
    this.decision = decision
    this.routingToken = routingToken
    this.abandonReason = abandonReason
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.abortReason !== undefined) this.#controller.abort(this.abortReason)
    }
    return this.#controller.signal
  }

  abort(reason: AckhookError): void {
    if (this.abortReason !== undefined) {
      const giveAway = this.#giveAway
      this.#giveAway = GIVEN_AWAY
      giveAway?.()
      return
    }
    this.abortReason = reason
    this.#controller?.abort(reason)
    this.#listener?.(reason)
    for (const listener of this.#moreListeners ?? []) listener(reason)
  }

  onAbort(listener: (reason: AckhookError) => void): void {
    if (this.abortReason !== undefined) listener(this.abortReason)
    else if (this.#listener === undefined) this.#listener = listener
    else if (this.#moreListeners === undefined) this.#moreListeners = [listener]
    else this.#moreListeners.push(listener)
  }

  onGivenAway(listener: () => void): void {
    // The withdrawal may come first, while `onError` of the time limit runs.
    if (this.#giveAway === GIVEN_AWAY) listener()
    else this.#giveAway = listener
  }
}

/** Context that handlers receive in addition to the event. */
export class AttemptContext implements HandlerContext {
  readonly attempt: number
  readonly namespace: string
  readonly receivedAt: number
  readonly #body: Uint8Array
  readonly #attempt: Attempt

  constructor(delivery: Pick<Delivery, 'namespace' | 'receivedAt' | 'body'>, attempt: Attempt) {
    this.attempt = attempt.number
    this.namespace = delivery.namespace
    this.receivedAt = delivery.receivedAt
    this.#body = delivery.body
    this.#attempt = attempt
  }

  get rawBody(): Uint8Array {
    return new Uint8Array(this.#body)
  }

  get signal(): AbortSignal {
    return this.#attempt.signal
  }
}

/** Reasons for withdrawing an attempt. */
export const ABORT: Readonly<Record<'leaseLost' | 'drained', () => AckhookError>> = {
  leaseLost: () =>
    new AckhookError('lease_lost', 'The lease on this event was lost: another process may be handling it.'),
  drained: () => new AckhookError('drain_timeout', 'The receiver was closed before this event was handled.'),
}

/** Reason for withdrawing an attempt at its time limit. */
export function timedOut(ms: number): AckhookError {
  return new AckhookError(
    'handler_timeout',
    `The handlers took longer than ${ms} ms (option handlerTimeout).`,
  )
}

import { AckhookError } from '../errors/errors.ts'
import type { HandlerContext } from '../events/event-types.ts'
import type { CrashDecision } from './crash-policy.ts'

/** One attempt at one event, as the inbox and the worker share it. */
export interface Attempt {
  readonly number: number
  /** What `crashPolicy` decided. Unless it is `'run'`, the number is that of the last attempt that ran. */
  readonly decision: CrashDecision
  readonly signal: AbortSignal
  /** Withdraws the attempt: the signal aborts and whatever the handlers still do no longer counts. */
  abort(reason: AckhookError): void
  /** Called at once when the attempt is withdrawn, or was already. */
  onAbort(listener: (reason: AckhookError) => void): void
}

/** An attempt whose `AbortSignal` is made only when a handler asks for it: most never do. */
export function createAttempt(number: number, decision: CrashDecision = 'run'): Attempt {
  return new LazyAttempt(number, decision)
}

/**
 * A class, because an object literal with a getter takes 450 ns to make and an instance of a class 12: one of
 * these and one {@link AttemptContext} are made for each attempt.
 */
class LazyAttempt implements Attempt {
  readonly number: number
  readonly decision: CrashDecision
  #controller: AbortController | undefined
  #reason: AckhookError | undefined
  #listener: ((reason: AckhookError) => void) | undefined

  constructor(number: number, decision: CrashDecision) {
    this.number = number
    this.decision = decision
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  abort(reason: AckhookError): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#controller?.abort(reason)
    this.#listener?.(reason)
  }

  onAbort(listener: (reason: AckhookError) => void): void {
    this.#listener = listener
    if (this.#reason !== undefined) listener(this.#reason)
  }
}

/** What handlers are told of an attempt at a delivery. */
export class AttemptContext implements HandlerContext {
  readonly attempt: number
  readonly namespace: string
  readonly receivedAt: number
  readonly #attempt: Attempt

  constructor(delivery: Pick<HandlerContext, 'namespace' | 'receivedAt'>, attempt: Attempt) {
    this.attempt = attempt.number
    this.namespace = delivery.namespace
    this.receivedAt = delivery.receivedAt
    this.#attempt = attempt
  }

  get signal(): AbortSignal {
    return this.#attempt.signal
  }
}

/** Reasons for which an attempt is withdrawn. */
export const ABORT: Readonly<Record<'leaseLost' | 'drained', () => AckhookError>> = {
  leaseLost: () =>
    new AckhookError('lease_lost', 'The lease on this event was lost: another process may be handling it.'),
  drained: () => new AckhookError('drain_timeout', 'The receiver was closed before this event was handled.'),
}

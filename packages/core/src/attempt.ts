import { AckhookError } from './errors.ts'

/** What a handler is told beside the event. */
export interface HandlerContext {
  /** 1 for the first attempt at this event. */
  readonly attempt: number
  /** The namespace the event arrived under; empty when none is configured. */
  readonly namespace: string
  /** When the event arrived, in milliseconds since the epoch. */
  readonly receivedAt: number
  /**
   * Aborted when the result no longer counts: the handler timed out, its lease was lost to another process,
   * or the drain ran out of time. Pass it to `fetch` and to database clients.
   */
  readonly signal: AbortSignal
}

/** One attempt at one event, as the inbox and the worker share it. */
export interface Attempt {
  readonly number: number
  /**
   * The event took its process down in every attempt it had: no handler runs any more, `onDeadLetter` is told,
   * and the verdict is dead. The number is that of the last attempt that ran.
   */
  readonly abandoned: boolean
  readonly signal: AbortSignal
  /**
   * Monotonic milliseconds after which no attempt begins any more, once the inbox is being drained: an attempt that
   * would have to be followed by a later one is the last, and its verdict is dead.
   */
  lastRetryAt: number | undefined
  /** Withdraws the attempt: the signal aborts and whatever the handlers still do no longer counts. */
  abort(reason: AckhookError): void
  /** Called at once when the attempt is withdrawn, or was already. */
  onAbort(listener: (reason: AckhookError) => void): void
}

/** An attempt whose `AbortSignal` is made only when a handler asks for it: most never do. */
export function createAttempt(
  number: number,
  { abandoned = false }: { readonly abandoned?: boolean } = {},
): Attempt {
  return new LazyAttempt(number, abandoned)
}

/**
 * A class, because an object literal with a getter takes 450 ns to make and an instance of a class 12: one of
 * these and one {@link AttemptContext} are made for each attempt.
 */
class LazyAttempt implements Attempt {
  readonly number: number
  readonly abandoned: boolean
  lastRetryAt: number | undefined
  #controller: AbortController | undefined
  #reason: AckhookError | undefined
  #listener: ((reason: AckhookError) => void) | undefined

  constructor(number: number, abandoned: boolean) {
    this.number = number
    this.abandoned = abandoned
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

/** Why no handler runs any more for an event that is abandoned. */
export const ABANDONED = 'In every attempt at this event its process died or stood still.'

/** Reasons for which an attempt is withdrawn. */
export const ABORT: Readonly<Record<'leaseLost' | 'drained', () => AckhookError>> = {
  leaseLost: () =>
    new AckhookError('lease_lost', 'The lease on this event was lost: another process may be handling it.'),
  drained: () => new AckhookError('drain_timeout', 'The receiver was closed before this event was handled.'),
}

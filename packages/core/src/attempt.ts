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
  readonly signal: AbortSignal
  /** Withdraws the attempt: the signal aborts and whatever the handlers still do no longer counts. */
  abort(reason: AckhookError): void
  /** Called at once when the attempt is withdrawn, or was already. */
  onAbort(listener: (reason: AckhookError) => void): void
}

/** An attempt whose `AbortSignal` is made only when a handler asks for it: most never do. */
export function createAttempt(number: number): Attempt {
  let controller: AbortController | undefined
  let reason: AckhookError | undefined
  let listener: ((reason: AckhookError) => void) | undefined
  return {
    number,
    get signal() {
      if (controller === undefined) {
        controller = new AbortController()
        if (reason !== undefined) controller.abort(reason)
      }
      return controller.signal
    },
    abort(why) {
      if (reason !== undefined) return
      reason = why
      controller?.abort(why)
      listener?.(why)
    },
    onAbort(callback) {
      listener = callback
      if (reason !== undefined) callback(reason)
    },
  }
}

/** Reasons for which an attempt is withdrawn. */
export const ABORT: Readonly<Record<'leaseLost' | 'drained', () => AckhookError>> = {
  leaseLost: () =>
    new AckhookError('lease_lost', 'The lease on this event was lost: another process may be handling it.'),
  drained: () => new AckhookError('drain_timeout', 'The receiver was closed before this event was handled.'),
}

import type { RefusalCode, ReplyCode } from '../errors/codes.ts'

interface OfEvent {
  readonly id: string
  readonly type: string
  readonly namespace: string
}

/** End of an attempt. */
interface OfAttempt extends OfEvent {
  readonly attempt: number
  readonly durationMs: number
}

interface OfFailure extends OfAttempt {
  readonly error: unknown
}

/**
 * Observations passed to `observe`. They never contain payload data, headers or secrets. Durations are in milliseconds.
 */
export type Observation =
  /** A request arrived. */
  | { readonly kind: 'received' }
  /** A request was refused, with the true reason; to the sender all 401s look alike. */
  | {
      readonly kind: 'rejected'
      readonly code: RefusalCode
      readonly status: number
      readonly detail?: string
      readonly cause?: unknown
      readonly durationMs: number
    }
  /**
   * Acknowledged, and as durable as the inbox. With `'after-processing'`: handled. `conflict`: replaced a dead letter
   * with the same id and different bytes.
   */
  | (OfEvent & {
      readonly kind: 'accepted'
      readonly code: ReplyCode
      readonly conflict: boolean
      readonly durationMs: number
    })
  /**
   * `receiver.ingest` offered an event that no request brought. `code`: as a delivery's, or `dead`: it is a dead letter. A
   * body that is no event has neither id nor type.
   */
  | (OfEvent & {
      readonly kind: 'ingested'
      readonly source: string
      readonly code: ReplyCode | 'dead'
      readonly durationMs: number
    })
  /** One of several secrets verified a delivery: its place in the list, the first being 1. */
  | { readonly kind: 'secret_matched'; readonly secret: number; readonly of: number }
  /** Acknowledged, and not run again. `conflict`: the same id arrived with different bytes. */
  | (OfEvent & { readonly kind: 'duplicate'; readonly conflict: boolean; readonly durationMs: number })
  /**
   * The handlers are about to run. `completed`, `attempt_failed`, `attempt_withdrawn` or `dead_lettered` follows,
   * unless the process dies or, on Workers with `'after-processing'`, the request ends first.
   */
  | (OfEvent & { readonly kind: 'attempt_started'; readonly attempt: number })
  /** The inbox withdrew the attempt: its lease was lost, or the drain ended. The handlers did not fail. */
  | (OfFailure & { readonly kind: 'attempt_withdrawn' })
  /** Another process on the inbox handles the type more specifically: the event waits for it. No attempt began. */
  | (OfEvent & { readonly kind: 'postponed'; readonly delayMs: number })
  /** No handler of `on` matches. `onUnhandled` runs next, if there is one; then `completed` or a failure follows. */
  | (OfEvent & { readonly kind: 'unhandled' })
  /** All handlers of an event resolved. `lagMs`: time since `created_at`, absent if that is not a valid time. */
  | (OfAttempt & { readonly kind: 'completed'; readonly lagMs?: number })
  /** An attempt failed and another follows. With `'after-processing'` the sender decides when: no `retryInMs`. */
  | (OfFailure & { readonly kind: 'attempt_failed'; readonly retryInMs?: number })
  /** No attempt follows. */
  | (OfFailure & { readonly kind: 'dead_lettered' })
  /** Another process took the event over, or may have, because the lease ran out; this one's result no longer counts. */
  | (OfEvent & { readonly kind: 'lease_lost' })
  /**
   * The event was handled, but that could not be recorded: it runs again if a durable inbox retries it, or if it is
   * redelivered.
   */
  | (OfEvent & { readonly kind: 'completion_lost'; readonly error: unknown })
  /**
   * An attempt failed, but a durable inbox could record neither its retry nor its dead letter: the event runs again once
   * its lease has expired, as after a crash.
   */
  | (OfEvent & { readonly kind: 'failure_lost'; readonly error: unknown })
  /** Someone redrove or deleted a dead letter: on a dashboard, or in code. `by`: that person, if `authorize` gave a name. */
  | (OfEvent & { readonly kind: 'redriven' | 'discarded'; readonly by?: string })
  /**
   * Acknowledged events were deleted without having been handled: dead letters, and events that waited. `retention`: by the
   * option `deadLetterRetention`. `erasure`: by `eraseEvents`. `capacity`: memory keeps no more dead letters.
   * `no_dead_letters`: a queue inbox keeps none. `shutdown`: they were in memory when the drain or the process ended.
   */
  | {
      readonly kind: 'dropped'
      readonly cause: 'retention' | 'erasure' | 'capacity' | 'no_dead_letters' | 'shutdown'
      readonly dead: number
      readonly waiting: number
    }
  /** A call to the store took longer than a quarter of its deadline. */
  | { readonly kind: 'store_slow'; readonly operation: string; readonly durationMs: number }
  /** A call to the store or the inbox failed or timed out, or the inbox could not start (`'start'`). */
  | { readonly kind: 'store_down'; readonly operation: string; readonly error: unknown }
  /** Something an operator should know. */
  | { readonly kind: 'notice'; readonly code: string; readonly message: string }

/**
 * Called synchronously; its errors are logged and go no further. It may be `async`: its promise is not awaited,
 * and a rejection is logged too.
 */
export type Observer = (observation: Observation) => void

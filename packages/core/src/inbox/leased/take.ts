import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { Attempt } from '../attempt.ts'
import type { Delivery } from '../delivery.ts'
import type { AttemptResult } from '../inbox.ts'
import type { Held, LeaseTime, Moment } from '../lease-time.ts'

/** One event that this process has taken, under a lease. An object of its engine, which may read it again later. */
export interface Take {
  readonly delivery: Delivery
  /** Read from the begin on: {@link LeaseEngine.begin} may create it. */
  readonly attempt: Attempt
  /** Counts from the moment at which the request for the take was sent. */
  readonly lease: LeaseTime
  /** Where it stands. Set by {@link LeasedAttempts} alone; an engine declares it as `undefined`. */
  standing: Standing | undefined
}

/**
 * What only an engine knows: how a lease is renewed, and an end recorded. Each promise may reject, hang or settle late;
 * a rejection is passed to `onError` and counts as no reply.
 */
export interface LeaseEngine<T extends Take> {
  /** Renews up to 500 leases, with one request if it can. Resolves to what became of each, in the same order. */
  renew(takes: readonly T[]): Promise<readonly Held[]>
  /** Finds out who has an event whose lease is gone or may be, and takes it again if nobody has. */
  retake(take: T): Promise<Held>
  /**
   * Called right before the handlers, under a lease that holds. Anything but `held` keeps them from beginning, and so
   * does a promise that takes longer than a lease. Does not throw.
   */
  begin?(take: T): MaybePromise<Held>
  /**
   * Records how an attempt ended. `false`: another owner has the event. A rejection means that nothing is recorded: it is
   * called again, with the number of tries before. The first call comes in the turn in which the handlers have ended.
   */
  record(take: T, result: AttemptResult, tries: number): Promise<boolean>
  /**
   * Returns an event as it was: nothing has begun, or the attempt was withdrawn and the lease holds. For takes that are
   * run from begin to end.
   */
  giveBack?(take: T, begun: boolean): Promise<unknown>
  /** Called for each take that turns out to be another owner's. For takes that wait here. */
  lost?(take: T): void
}

/** State of a take. Its transitions, and what a crash or a lost lease costs in each, are in ARCHITECTURE.md. */
export type TakeState = 'taken' | 'running' | 'recording' | 'over'

/** Where one take stands. */
export class Standing {
  state: TakeState = 'taken'
  /** Whether handlers may be under way: they outlive the state `running` if they ignore their signal. */
  hasHandlers = false
  /** End that is neither recorded nor reported yet. */
  result: AttemptResult | undefined = undefined
  /** Set while the engine is asked who has the event. */
  asking: Promise<void> | undefined = undefined
  /** When the lease was last taken, or its renewal tried. */
  triedAt: Moment
  /** Milliseconds from there until the next renewal. */
  waitMs: number
  /** Index in the list of {@link Leases}. */
  place: number

  constructor(triedAt: Moment, waitMs: number, place: number) {
    this.triedAt = triedAt
    this.waitMs = waitMs
    this.place = place
  }

  /** Whether the loss of the lease would change what becomes of the event. */
  get isJudged(): boolean {
    return this.state === 'taken' || this.state === 'running'
  }
}

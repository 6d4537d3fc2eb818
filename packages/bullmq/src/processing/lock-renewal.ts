import type { AckhookError } from '@ackhook/core'
import { ABORT, type Attempt, settlesWithin } from '@ackhook/core/spi'
import type { Relocked } from '../engine/engine.ts'

/** The lock under which an attempt runs its job. */
export interface JobLock {
  /** Another worker may have the job now, so this attempt no longer counts. */
  readonly lost: boolean
}

export interface LockRenewalOptions {
  readonly leaseMs: number
  /** Renews the locks of these jobs, each with its token. Resolves to the jobs that are no longer locked with it. */
  readonly renew: (jobIds: string[], tokens: string[], leaseMs: number) => Promise<readonly string[]>
  /** Reports a renewal that failed. It is tried again. */
  readonly onError: (error: Error) => void
}

/** One take of a job. */
export interface LockHolder {
  readonly jobId: string
  readonly token: string
  readonly attempt: Attempt
  /** Locks the job again, if its lock has expired and no other attempt has begun since. */
  readonly relock: () => Promise<Relocked>
  /** Reports that the attempt no longer counts. Called once. */
  readonly onLost: () => void
}

interface HeldLock extends JobLock, LockHolder {
  /**
   * Time at which the last successful request for the lock was sent. The lock holds for at least `leaseMs` from then.
   */
  renewedAt: number
  lost: boolean
  ended: boolean
  /** `true` if the lock has expired and the server is being asked who has the job now. */
  asking: boolean
}

/**
 * If the event loop blocks, a lock is at most one and a half periods old, and so lasts for another four fifths of a
 * lease.
 */
const RENEWALS_PER_LEASE = 8

/**
 * Renews the locks of all this process's attempts with one timer and one request, in place of BullMQ's own renewal.
 * BullMQ's uses the wall clock and identifies a lock by job id. A clock that is set back stops it silently. If a job
 * runs twice in one process, the end of the first attempt ends the second one's renewal, whose lock then expires too.
 *
 * A renewal that fails or gets no reply is repeated until the lock must have expired. Then the attempt is withdrawn,
 * whatever the server would reply. After a stall of the event loop or the process no renewal was sent, so the server is
 * asked first: it may not have given the job to another worker. If the whole machine stalled, the reply may be late,
 * and is awaited for up to a lease: otherwise this process would take a job that it has withdrawn, and run it twice at
 * once.
 */
export class LockRenewal {
  readonly #leaseMs: number
  readonly #periodMs: number
  readonly #renew: LockRenewalOptions['renew']
  readonly #onError: LockRenewalOptions['onError']
  /** Locks by job. The server gives each to one attempt at a time, the one that began last. */
  readonly #held = new Map<string, HeldLock>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor({ leaseMs, renew, onError }: LockRenewalOptions) {
    this.#leaseMs = leaseMs
    this.#periodMs = leaseMs / RENEWALS_PER_LEASE
    this.#renew = renew
    this.#onError = onError
  }

  /**
   * Renews the lock of an attempt that begins, whose job BullMQ has just locked with this token, or of an attempt that
   * continues under the lock of another take of its job.
   */
  hold(holder: LockHolder): JobLock {
    const earlier = this.#held.get(holder.jobId)
    if (earlier?.attempt === holder.attempt) earlier.lost = true
    // This process took the job again, so another attempt runs. The server may have recorded the earlier attempt's end
    // while its reply is still on the way; if it refused that record, `lose` is called.
    else if (earlier !== undefined && !earlier.ended) this.#lose(earlier)
    const lock = { ...holder, renewedAt: performance.now(), lost: false, ended: false, asking: false }
    this.#held.set(holder.jobId, lock)
    if (this.#timer === undefined) this.#schedule(this.#periodMs)
    return lock
  }

  /**
   * Marks an attempt whose handlers have ended. Its lock is renewed until `release`, since a slow server may take
   * longer than a lease to record the end. It is no longer judged: after the record, a renewal finds no lock either.
   */
  end(lock: JobLock): void {
    ;(lock as HeldLock).ended = true
  }

  /** Ends the renewal, once the attempt's end is recorded or its job is left to other workers. */
  release(lock: JobLock): void {
    const { jobId } = lock as HeldLock
    if (this.#held.get(jobId) === lock) this.#held.delete(jobId)
  }

  /** Gives up a lock that another worker now has, even after its attempt has ended. Calls `onLost` once. */
  lose(lock: JobLock): void {
    const held = lock as HeldLock
    if (held.lost) return
    held.lost = true
    this.release(held)
    held.onLost()
    held.attempt.abort(ABORT.leaseLost())
  }

  /** Withdraws every attempt. */
  abortAll(reason: () => AckhookError): void {
    for (const { attempt } of this.#held.values()) attempt.abort(reason())
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #schedule(ms: number): void {
    const dueAt = performance.now() + ms
    // Read the server's replies before judging locks, since the event loop may have paused.
    this.#timer = setTimeout(() => setImmediate(() => this.#check(dueAt)), ms)
  }

  #check(dueAt: number): void {
    if (this.#timer === undefined) return
    this.#timer = undefined
    const now = performance.now()
    const hasStalled = now - dueAt > this.#periodMs
    const due: HeldLock[] = []
    let nextMs = this.#periodMs
    for (const lock of this.#held.values()) {
      if (lock.asking) continue
      const leftMs = lock.renewedAt + this.#leaseMs - now
      if (leftMs > 0) nextMs = Math.min(nextMs, leftMs)
      else if (!lock.ended) {
        if (hasStalled) void this.#ask(lock)
        else this.#lose(lock)
        continue
      }
      if (now - lock.renewedAt >= this.#periodMs / 2) due.push(lock)
    }
    if (due.length > 0) void this.#renewAll(due, now)
    if (this.#held.size > 0) this.#schedule(nextMs)
  }

  async #renewAll(due: readonly HeldLock[], sentAt: number): Promise<void> {
    try {
      const jobIds = due.map(({ jobId }) => jobId)
      const tokens = due.map(({ token }) => token)
      const lost = new Set(await this.#renew(jobIds, tokens, this.#leaseMs))
      for (const lock of due) {
        if (!lost.has(lock.jobId)) lock.renewedAt = Math.max(lock.renewedAt, sentAt)
        else if (!lock.ended) void this.#ask(lock)
      }
    } catch (error) {
      this.#onError(error as Error)
    }
  }

  /** Judges a lock that has expired, or that the server no longer has. */
  async #ask(lock: HeldLock): Promise<void> {
    if (lock.asking || this.#held.get(lock.jobId) !== lock) return
    lock.asking = true
    const askedAt = performance.now()
    let isLocked = false
    const answered = lock.relock().then(
      relocked => {
        isLocked = relocked === 'relocked'
      },
      error => this.#onError(error as Error),
    )
    await settlesWithin(answered, this.#leaseMs)
    lock.asking = false
    if (isLocked) lock.renewedAt = askedAt
    else if (!lock.ended) this.#lose(lock)
  }

  #lose(lock: HeldLock): void {
    // The reply to a renewal may arrive after the attempt has ended.
    if (this.#held.get(lock.jobId) === lock) this.lose(lock)
  }
}

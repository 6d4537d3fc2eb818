import type { AckhookError } from '@ackhook/core'
import { ABORT, type Attempt } from '@ackhook/core/spi'

/** What an attempt holds its event by. */
export interface Lease {
  /** Somebody else may have the event now: nothing of this attempt counts any more. */
  readonly lost: boolean
}

/** The leases of the attempts that run in this process. */
export interface Leases {
  /** Of an attempt that begins: BullMQ has just taken the lease for it, under this token. */
  hold(jobId: string, token: string, attempt: Attempt): Lease
  /** Of an attempt that has ended. */
  release(lease: Lease): void
  /** Withdraws every attempt. */
  abort(reason: () => AckhookError): void
  stop(): void
}

export interface LeasesParts {
  readonly leaseMs: number
  /** Renews the leases of these jobs, each under its token. Answers with the jobs whose lease is not there any more. */
  readonly renew: (jobIds: string[], tokens: string[], leaseMs: number) => Promise<readonly string[]>
  /** A renewal failed. It is tried again. */
  readonly onError: (error: Error) => void
}

interface Held {
  readonly jobId: string
  readonly token: string
  readonly attempt: Attempt
  /** When the server was last asked for the lease and gave it: it lasts from then at least. */
  since: number
  lost: boolean
}

const RENEWALS_PER_LEASE = 4

/**
 * Instead of BullMQ's own renewal, which goes by the clock of the day and by the id of the job: a clock that is set
 * back stops it without a word, and where an event is handed out twice in one process, the end of the first attempt
 * ends the renewals of the second, whose lease lapses, and so on.
 *
 * One timer and one request for all attempts. A renewal that fails or is not answered is tried again until the lease
 * must have lapsed; then the attempt is withdrawn, whatever the server would say.
 */
export function createLeases({ leaseMs, renew, onError }: LeasesParts): Leases {
  const periodMs = leaseMs / RENEWALS_PER_LEASE
  /** By job: the server gives each to one attempt at a time, which is the last one that began. */
  const held = new Map<string, Held>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function schedule(ms: number): void {
    // What the server has answered is read first, should the event loop have stood still meanwhile.
    timer = setTimeout(() => setImmediate(look), ms)
  }

  function look(): void {
    if (timer === undefined) return
    timer = undefined
    const now = performance.now()
    const due: Held[] = []
    let nextMs = periodMs
    for (const lease of held.values()) {
      const leftMs = lease.since + leaseMs - now
      if (leftMs <= 0) lose(lease)
      else nextMs = Math.min(nextMs, leftMs)
      if (!lease.lost && now - lease.since >= periodMs / 2) due.push(lease)
    }
    if (due.length > 0) void renewAll(due, now)
    if (held.size > 0) schedule(nextMs)
  }

  async function renewAll(due: readonly Held[], sentAt: number): Promise<void> {
    try {
      const jobIds = due.map(({ jobId }) => jobId)
      const tokens = due.map(({ token }) => token)
      const lost = new Set(await renew(jobIds, tokens, leaseMs))
      for (const lease of due) {
        if (lost.has(lease.jobId)) lose(lease)
        else lease.since = Math.max(lease.since, sentAt)
      }
    } catch (error) {
      onError(error as Error)
    }
  }

  function lose(lease: Held): void {
    if (held.get(lease.jobId) !== lease) return
    held.delete(lease.jobId)
    lease.lost = true
    lease.attempt.abort(ABORT.leaseLost())
  }

  return {
    hold(jobId, token, attempt) {
      const earlier = held.get(jobId)
      // It is handed out here once more: the earlier attempt has not heard yet that its lease has lapsed.
      if (earlier !== undefined) lose(earlier)
      const lease = { jobId, token, attempt, since: performance.now(), lost: false }
      held.set(jobId, lease)
      if (timer === undefined) schedule(periodMs)
      return lease
    },
    release(lease) {
      const { jobId } = lease as Held
      if (held.get(jobId) === lease) held.delete(jobId)
    },
    abort(reason) {
      for (const { attempt } of held.values()) attempt.abort(reason())
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

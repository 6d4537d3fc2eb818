import {
  AckhookError,
  type DeadLetter,
  type Delivery,
  type DrainReport,
  type Inbox,
  type InboxStats,
} from '@ackhook/core'
import {
  ABORT,
  type Acceptance,
  createAttempt,
  describeError,
  type Process,
  type ProcessingPolicy,
  type RetryPolicy,
  type Verdict,
} from '@ackhook/core/spi'
import { type Batcher, createBatcher } from './engine/batcher.ts'
import type { Engine } from './engine/engine.ts'
import { createLocalEngine } from './engine/local-engine.ts'
import { createThreadEngine } from './engine/thread-engine.ts'
import { toError } from './engine/to-error.ts'
import { createHeldRows, type Held } from './held-rows.ts'
import { type LeaseWatch, watchLeases } from './lease-check.ts'
import { resolveSqliteOptions, type SqliteInboxOptions } from './options.ts'
import type { Settlement, TakenRow } from './protocol.ts'

interface Running {
  readonly process: Process
  readonly policy: ProcessingPolicy
  readonly leases: LeaseWatch
}

/** 8 attempts: 5 s, 25 s, 2 min, 10 min, 52 min, 4 h and 12 h apart, less the random part. */
const RETRY: RetryPolicy = { attempts: 8, minDelayMs: 5000, maxDelayMs: 43_200_000, factor: 5 }
const CAPACITY = 1_000_000
const LISTED = 100
const MAX_LISTED = 1_000_000
/** How long the last words of a closing process may take to reach the disk. */
const LAST_WORDS_MS = 2000

/**
 * The inbox in a file, for one machine: an event is acknowledged when it is committed and flushed to disk, and
 * its row is the memory of its id. Several processes of one machine may open the same file.
 *
 * Throws `ConfigurationError` for a wrong option; `start` rejects when the file cannot be worked with.
 *
 * @example
 * const hooks = webhooks({ secret: process.env['SIGNING_SECRET'], inbox: sqliteInbox('webhooks.db') })
 */
export function sqliteInbox(pathOrOptions: string | SqliteInboxOptions): Inbox {
  const { source, leaseMs, pollMs } = resolveSqliteOptions(pathOrOptions)
  const engine: Engine =
    'path' in source ? createThreadEngine(source.path) : createLocalEngine(source.database)
  const held = createHeldRows()
  let running: Running | undefined
  let active = 0
  let closing: Promise<DrainReport> | undefined
  let wakeTimer: ReturnType<typeof setTimeout> | undefined
  let onQuiet: (() => void) | undefined
  /** Why the last rows asked for did not come. */
  let outage: string | undefined

  const batcher: Batcher = createBatcher({
    engine,
    toError: fault =>
      'path' in source
        ? toError(fault, 'path', `'${source.path}'`)
        : toError(fault, 'database', 'the database'),
    slots: requested =>
      running === undefined || closing !== undefined ? 0 : running.policy.concurrency - active - requested,
    onTaken: begin,
    onAsked: tellOnce,
    onAnswered: lookAgain,
  })

  function begin(row: TakenRow, arrived: Delivery | undefined): void {
    const delivery = arrived ?? row.event
    if (running === undefined || closing !== undefined || delivery === undefined) {
      void record({ kind: 'release', seq: row.seq, token: row.token, begun: false })
      return
    }
    const attempt = createAttempt(row.attempt, row.decision)
    const one: Held = { row, delivery, attempt, ended: false, place: -1 }
    held.add(one)
    active++
    // After the replies of this turn: work must not delay an acknowledgement that is being written.
    setImmediate(() => void run(one))
  }

  async function run(one: Held): Promise<void> {
    const verdict = await started().process(one.delivery, one.attempt)
    if (!held.has(one)) return
    end(one)
    await settle(one, verdict)
    held.remove(one)
    quiet()
  }

  function end(one: Held): void {
    if (one.ended) return
    one.ended = true
    active--
    batcher.wake()
  }

  async function settle(one: Held, verdict: Verdict): Promise<void> {
    const { policy } = started()
    const settlement = settlementOf(one, verdict, policy)
    for (let delayMs = 250; held.has(one); delayMs = Math.min(delayMs * 2, 5000)) {
      try {
        if (!(await batcher.settle(settlement))) lose(one)
        return
      } catch (error) {
        policy.observe({ kind: 'store_down', operation: 'settle', error })
        if (closing !== undefined) {
          if (verdict.outcome === 'completed')
            policy.observe({ kind: 'completion_lost', ...about(one), error })
          return
        }
        await new Promise(resolve => setTimeout(resolve, delayMs))
      }
    }
  }

  /** Another process has the event now: what is left of it here no longer counts. */
  function lose(one: Held): void {
    if (!held.remove(one)) return
    started().policy.observe({ kind: 'lease_lost', ...about(one) })
    one.attempt.abort(ABORT.leaseLost())
    end(one)
    quiet()
  }

  /** When an outage begins, and not with every poll of it: of what only works, nobody else would notice. */
  function tellOnce(error?: Error): void {
    if (error !== undefined && error.message !== outage) {
      running?.policy.observe({ kind: 'store_down', operation: 'take', error })
    }
    outage = error?.message
  }

  /** Asks again when the next row is due, and now and then for what another process received. */
  function lookAgain(nextDueMs: number | undefined): void {
    clearTimeout(wakeTimer)
    if (running === undefined || closing !== undefined || running.policy.concurrency === 0) {
      quiet()
      return
    }
    wakeTimer = setTimeout(batcher.hurry, Math.min(pollMs, nextDueMs ?? pollMs))
  }

  /** For what nobody waits for: when it fails, the lease lapses by itself. */
  async function record(settlement: Settlement): Promise<void> {
    await batcher.settle(settlement).catch(() => false)
    quiet()
  }

  function quiet(): void {
    if (held.size === 0 && !batcher.isBusy()) onQuiet?.()
  }

  function quietWithin(timeoutMs: number): Promise<void> {
    if (held.size === 0 && !batcher.isBusy()) return Promise.resolve()
    return new Promise(resolve => {
      const timer = setTimeout(resolve, timeoutMs)
      onQuiet = () => {
        clearTimeout(timer)
        resolve()
      }
      batcher.hurry()
    })
  }

  async function close(timeoutMs: number): Promise<DrainReport> {
    clearTimeout(wakeTimer)
    await quietWithin(timeoutMs)
    const left = held.all().filter(({ ended }) => !ended)
    held.clear()
    for (const { row, attempt } of left) {
      attempt.abort(ABORT.drained())
      void record({ kind: 'release', seq: row.seq, token: row.token, begun: true })
    }
    await quietWithin(LAST_WORDS_MS)
    running?.leases.stop()
    await engine.close()
    // Whatever was accepted is in the file.
    return { lost: 0 }
  }

  function started(): Running {
    if (running === undefined) throw new Error('start() must come before the first event')
    return running
  }

  return {
    durable: true,
    defaultRetry: RETRY,
    defaultCapacity: CAPACITY,
    async start(process, policy) {
      if (closing !== undefined) throw closedError()
      const { minDelayMs, maxDelayMs, factor } = policy.retry
      engine.setTerms({ capacity: policy.capacity, leaseMs, minDelayMs, maxDelayMs, factor })
      await engine.open()
      // Closed meanwhile: nobody would stop what follows.
      if (closing !== undefined) throw closedError()
      const leases = watchLeases({ held, leaseMs, batcher, lose })
      running = { process, policy, leases }
      batcher.hurry()
    },
    accept(delivery): Promise<Acceptance> {
      if (closing === undefined) return batcher.accept(delivery)
      return Promise.resolve(CLOSED)
    },
    close(timeoutMs) {
      closing ??= close(timeoutMs)
      return closing
    },
    stats: () => batcher.ask({ kind: 'stats' }) as Promise<InboxStats>,
    deadLetters: {
      list: ({ limit } = {}) =>
        batcher.ask({ kind: 'list', limit: wholeLimit(limit) }) as Promise<readonly DeadLetter[]>,
      get: key => batcher.ask({ kind: 'get', key: String(key) }) as Promise<DeadLetter | undefined>,
      redrive: key => batcher.ask({ kind: 'redrive', key: String(key) }) as Promise<boolean>,
      discard: key => batcher.ask({ kind: 'discard', key: String(key) }) as Promise<boolean>,
    },
  }
}

const CLOSED: Acceptance = { outcome: 'unavailable', code: 'inbox_unavailable', cause: closedError() }

function closedError(): AckhookError {
  return new AckhookError('inbox_unavailable', 'The inbox is closed: make another sqliteInbox().')
}

/** Whole literals: one that goes on after a spread takes Node 20 two microseconds, and a hidden class each time. */
function settlementOf({ row }: Held, verdict: Verdict, policy: ProcessingPolicy): Settlement {
  const { seq, token } = row
  switch (verdict.outcome) {
    case 'completed':
      return { kind: 'complete', seq, token, forgetAt: Math.round(Date.now() + policy.retentionMs) }
    case 'retry': {
      const reason = describeError(verdict.error)
      return { kind: 'retry', seq, token, delayMs: Math.round(verdict.delayMs), reason }
    }
    case 'dead': {
      const reason = describeError(verdict.error)
      return { kind: 'bury', seq, token, failedAt: Math.round(policy.clock()), reason }
    }
  }
}

/** What is no number lists as many as no limit does. */
function wholeLimit(limit: number | undefined): number {
  const wanted = Number(limit ?? LISTED)
  return Number.isNaN(wanted) ? LISTED : Math.max(0, Math.min(Math.floor(wanted), MAX_LISTED))
}

function about({ delivery: { id, type, namespace } }: Held): { id: string; type: string; namespace: string } {
  return { id, type, namespace }
}

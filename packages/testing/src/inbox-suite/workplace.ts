import type { Delivery, Inbox, Observation } from '@ackhook/core'
import type { Acceptance, Attempt, Process, ProcessingPolicy, Verdict } from '@ackhook/core/spi'
import { until } from './expect.ts'
import type { InboxCapabilities, InboxCase, InboxTarget } from './target.ts'

/** One attempt that an inbox has handed out. */
interface Run {
  readonly delivery: Delivery
  readonly attempt: Attempt
  /** Monotonic milliseconds. */
  readonly startedAt: number
  /** Ends the attempt, where the workplace was started with `manual`. */
  finish(verdict?: Verdict): void
}

/** A started inbox and everything it has done. */
export interface Workplace {
  readonly inbox: Inbox
  readonly runs: readonly Run[]
  readonly observations: readonly Observation[]
  accept(delivery: Delivery): Promise<Acceptance>
  /** The run number `index` of this workplace, once it has begun. */
  run(index: number): Promise<Run>
}

interface StartOptions extends Partial<ProcessingPolicy> {
  /** What becomes of an attempt. Default: it completes. */
  readonly decide?: (delivery: Delivery, attempt: Attempt) => Verdict | Promise<Verdict>
  /** Attempts last until `Run.finish`. */
  readonly manual?: boolean
}

export const COMPLETED: Verdict = { outcome: 'completed' }
export const DEAD: Verdict = { outcome: 'dead', error: new TypeError('no use'), notified: false }
export function retryIn(delayMs: number): Verdict {
  return { outcome: 'retry', delayMs, error: new Error('not now') }
}

/** What a case is written against: opens, starts, and remembers to close. */
export interface CaseTools {
  readonly target: InboxTarget
  /** Starts the inbox of this case, or with `beside` one more on the same events. */
  start(options?: StartOptions, beside?: 'beside'): Promise<Workplace>
}

/** Makes a case of a function: whatever it started is closed at its end, also when it failed. */
export function inboxCase(
  id: string,
  name: string,
  body: (tools: CaseTools) => Promise<void>,
  needs: readonly (keyof InboxCapabilities)[] = [],
): InboxCase {
  return {
    id,
    name,
    needs,
    async run(target) {
      const started: Workplace[] = []
      const tools: CaseTools = {
        target,
        async start(options = {}, beside) {
          const inbox = await (beside === 'beside' ? target.reopen() : target.open())
          const place = await startWorkplace(inbox, options)
          started.push(place)
          return place
        },
      }
      try {
        await body(tools)
      } finally {
        await Promise.all(started.map(({ inbox }) => inbox.close(0)))
      }
    },
  }
}

async function startWorkplace(inbox: Inbox, options: StartOptions): Promise<Workplace> {
  const { decide, manual = false, ...policy } = options
  const runs: Run[] = []
  const observations: Observation[] = []
  const process: Process = (delivery, attempt) =>
    new Promise(resolve => {
      const finish = (verdict: Verdict = COMPLETED): void => resolve(verdict)
      runs.push({ delivery, attempt, startedAt: performance.now(), finish })
      // As the worker does it: an attempt that was withdrawn ends, whatever its handlers still do.
      attempt.onAbort(error => resolve({ outcome: 'retry', delayMs: 0, error }))
      if (!manual) void Promise.resolve(decide?.(delivery, attempt) ?? COMPLETED).then(resolve)
    })
  await inbox.start(process, { ...DEFAULT_POLICY, observe: seen => observations.push(seen), ...policy })
  return {
    inbox,
    runs,
    observations,
    accept: async delivery => inbox.accept(delivery),
    async run(index) {
      await until(() => runs.length > index, `attempt ${index + 1} of this inbox begins`)
      return runs[index] as Run
    },
  }
}

const DEFAULT_POLICY: ProcessingPolicy = {
  acknowledge: 'immediately',
  concurrency: 16,
  capacity: 10_000,
  handlerTimeoutMs: 60_000,
  retry: { attempts: 5, minDelayMs: 10, maxDelayMs: 50, factor: 2 },
  retentionMs: 3_600_000,
  serialize: false,
  clock: Date.now,
  observe: () => {},
  logger: { info() {}, warn() {}, error() {} },
}

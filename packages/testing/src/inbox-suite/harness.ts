import type { Delivery, Inbox } from '@ackhook/core'
import type {
  AcceptResult,
  Attempt,
  AttemptResult,
  HandlerSharing,
  PresenceStore,
  ProcessEvent,
  ProcessingPolicy,
  PublishedHandlers,
} from '@ackhook/core/spi'
import { until } from '../lib/until.ts'
import type { InboxCapabilities, InboxCase, InboxTarget } from './target.ts'

/** One attempt that an inbox has started. */
interface Run {
  readonly delivery: Delivery
  readonly attempt: Attempt
  /** Monotonic milliseconds. */
  readonly startedAt: number
  /** Ends the attempt, if the harness was started with `manual`. */
  finish(result?: AttemptResult): void
}

/** A started inbox and everything it has run. */
export interface Harness {
  readonly inbox: Inbox
  readonly runs: readonly Run[]
  /** Where the inbox shares what processes handle. */
  readonly board: PresenceStore
  accept(delivery: Delivery): Promise<AcceptResult>
  /** The run with this index, once it has begun. */
  run(index: number): Promise<Run>
}

interface StartOptions extends Partial<Omit<ProcessingPolicy, 'handlers'>> {
  /** What this process handles. */
  readonly own?: PublishedHandlers
  /** The result of an attempt. Default: it completes. */
  readonly decide?: (delivery: Delivery, attempt: Attempt) => AttemptResult | Promise<AttemptResult>
  /** Attempts last until `Run.finish`. */
  readonly manual?: boolean
}

export const COMPLETED: AttemptResult = { outcome: 'completed' }
export const DEAD: AttemptResult = { outcome: 'dead', error: new TypeError('no use'), notified: false }
export function retryIn(delayMs: number): AttemptResult {
  return { outcome: 'retry', delayMs, error: new Error('not now') }
}

/** What a case gets. */
export interface CaseTools {
  /** Starts one more inbox on the events of this case. */
  start(options?: StartOptions): Promise<Harness>
}

/** Makes a case of a function. Every inbox it starts is closed at its end, also when it fails. */
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
    async run(target: InboxTarget) {
      const started: Harness[] = []
      const tools: CaseTools = {
        async start(options = {}) {
          const harness = await startHarness(await target.createInbox(), options)
          started.push(harness)
          return harness
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

async function startHarness(inbox: Inbox, options: StartOptions): Promise<Harness> {
  const { decide, manual = false, own = publication(), ...policy } = options
  const runs: Run[] = []
  const handle: ProcessEvent = (delivery, attempt) =>
    new Promise(resolve => {
      const finish = (result: AttemptResult = COMPLETED): void => resolve(result)
      runs.push({ delivery, attempt, startedAt: performance.now(), finish })
      // Like the worker: a withdrawn attempt ends, whatever its handlers still do.
      attempt.onAbort(error => resolve({ outcome: 'retry', delayMs: 0, error }))
      if (!manual) void Promise.resolve(decide?.(delivery, attempt) ?? COMPLETED).then(resolve)
    })
  const handlers = sharingOf(own)
  await inbox.start(handle, { ...DEFAULT_POLICY, ...policy, handlers })
  return {
    inbox,
    runs,
    get board() {
      if (handlers.board === undefined) throw new Error('shareHandlers was not called before start resolved')
      return handlers.board
    },
    accept: async delivery => inbox.accept(delivery),
    async run(index) {
      await until(() => runs.length > index, `attempt ${index + 1} of this inbox begins`)
      return runs[index] as Run
    },
  }
}

/** Publishes once, and leaves the rest to the case. */
function sharingOf(own: PublishedHandlers): HandlerSharing & { board: PresenceStore | undefined } {
  return {
    published: own,
    board: undefined,
    async share({ board }) {
      this.board = board
      await board.publish(own)
    },
  }
}

let published = 0

/** What a process publishes. */
export function publication(parts: Partial<PublishedHandlers> = {}): PublishedHandlers {
  return {
    id: `process-${published++}`,
    process: 'host:1',
    version: '1.0.0',
    startedAt: Date.now(),
    patterns: ['conversation.resolved', 'message.*', '*'],
    onUnhandled: false,
    keepMs: 60_000,
    ...parts,
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

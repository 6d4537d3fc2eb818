import type { Delivery, Inbox, Observation } from '@ackhook/core'
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
import { makePolicy } from './make-policy.ts'
import type { DistantInbox, InboxCase, InboxNeed, Stage } from './target.ts'

/** One attempt started by an inbox. */
interface Run {
  readonly delivery: Delivery
  readonly attempt: Attempt
  /** Monotonic milliseconds. */
  readonly startedAt: number
  /** Ends the attempt, if the harness was started with `manual`. */
  finish(result?: AttemptResult): void
}

/** A started inbox and all its attempts. */
export interface Harness {
  readonly inbox: Inbox
  readonly runs: readonly Run[]
  /** All observations of the inbox. */
  readonly observed: readonly Observation[]
  /** Board on which the inbox shares the event types that processes handle. */
  readonly board: PresenceStore
  accept(delivery: Delivery): Promise<AcceptResult>
  /** Returns the run with this index, once it has begun. */
  run(index: number): Promise<Run>
}

interface StartOptions extends Partial<Omit<ProcessingPolicy, 'handlers'>> {
  /** Event types that this process handles. */
  readonly own?: PublishedHandlers
  /** The result of an attempt. Default: it completes. */
  readonly decide?: (delivery: Delivery, attempt: Attempt) => AttemptResult | Promise<AttemptResult>
  /** Lets attempts last until `Run.finish`. */
  readonly manual?: boolean
  /** Lets attempts continue after they are withdrawn. */
  readonly deaf?: boolean
}

/** A started inbox in a process that can be killed. */
interface MortalHarness extends Harness {
  kill(): Promise<void>
}

/** A started inbox in a process that can be stopped, with a path of its own to its store. */
interface DistantHarness extends Harness, Omit<DistantInbox, 'inbox'> {}

export const COMPLETED: AttemptResult = { outcome: 'completed' }
export const DEAD: AttemptResult = { outcome: 'dead', error: new TypeError('no use'), notified: false }
export function retryIn(delayMs: number): AttemptResult {
  return { outcome: 'retry', delayMs, error: new Error('not now') }
}

/** Arguments of a case. */
export interface CaseTools {
  /** Starts another inbox on this case's events. */
  start(options?: StartOptions): Promise<Harness>
  /** Same, in a process that the case kills. */
  startMortal(options?: StartOptions): Promise<MortalHarness>
  /** Same, in a process whose clock is ahead by this many milliseconds. */
  startSkewed(aheadMs: number, options?: StartOptions): Promise<Harness>
  /** Same, in a process that the case stops, or whose path to its store it slows. */
  startDistant(options?: StartOptions): Promise<DistantHarness>
  /** Returns an inbox that the case starts itself. */
  create(): Promise<Inbox>
  failWrites(isFailing: boolean): Promise<void>
}

const TIME_LIMIT_MS = 60_000

/** Turns a function into a case. At its end, even if it failed, every inbox it started is closed. */
export function inboxCase(
  id: string,
  name: string,
  body: (tools: CaseTools) => Promise<void>,
  needs: readonly InboxNeed[] = [],
  timeLimitMs: number = TIME_LIMIT_MS,
): InboxCase {
  return {
    id,
    name,
    needs,
    timeLimitMs,
    async run(stage) {
      const tools = new StageTools(stage)
      try {
        await body(tools)
      } finally {
        await tools.end()
      }
    },
  }
}

/** Tools of a case. Everything they start ends with the case. They are properties because cases destructure them. */
class StageTools implements CaseTools {
  readonly #stage: Stage
  readonly #open = new Set<Inbox>()
  readonly #stopped = new Set<DistantInbox>()
  #isFailing = false

  constructor(stage: Stage) {
    this.#stage = stage
  }

  readonly create: CaseTools['create'] = async () => this.#add(await this.#stage.createInbox())

  readonly start: CaseTools['start'] = async (options = {}) => startHarness(await this.create(), options)

  readonly startSkewed: CaseTools['startSkewed'] = async (aheadMs, options = {}) =>
    startHarness(this.#add(await this.#stage.skew(aheadMs)), options)

  readonly startMortal: CaseTools['startMortal'] = async (options = {}) => {
    const mortal = await this.#stage.crash()
    const inbox = this.#add(mortal.inbox)
    const kill = async (): Promise<void> => {
      this.#open.delete(inbox)
      await mortal.kill()
    }
    return Object.assign(await startHarness(inbox, options), { kill })
  }

  readonly startDistant: CaseTools['startDistant'] = async (options = {}) => {
    const distant = await this.#stage.distant()
    const inbox = this.#add(distant.inbox)
    // A stopped process would not close its inbox.
    this.#stopped.add(distant)
    return Object.assign(await startHarness(inbox, options), {
      path: (state: Parameters<DistantInbox['path']>[0]) => distant.path(state),
      stop: () => distant.stop(),
      resume: () => distant.resume(),
    })
  }

  readonly failWrites: CaseTools['failWrites'] = async isFailing => {
    this.#isFailing = isFailing
    await this.#stage.failWrites(isFailing)
  }

  async end(): Promise<void> {
    if (this.#isFailing) await this.#stage.failWrites(false)
    for (const distant of this.#stopped) {
      await distant.resume()
      await distant.path({ delayMs: 0 })
    }
    await Promise.all(Array.from(this.#open, inbox => inbox.close(0)))
  }

  #add(inbox: Inbox): Inbox {
    this.#open.add(inbox)
    return inbox
  }
}

async function startHarness(inbox: Inbox, options: StartOptions): Promise<Harness> {
  const { decide, manual = false, deaf = false, own = publication(), ...policy } = options
  const runs: Run[] = []
  const observed: Observation[] = []
  const handle: ProcessEvent = (delivery, attempt) =>
    new Promise(resolve => {
      const finish = (result: AttemptResult = COMPLETED): void => resolve(result)
      runs.push({ delivery, attempt, startedAt: performance.now(), finish })
      // A withdrawn attempt ends, as it does in the worker, even if its handlers still run.
      if (!deaf) attempt.onAbort(error => resolve({ outcome: 'retry', delayMs: 0, error }))
      if (!manual) void Promise.resolve(decide?.(delivery, attempt) ?? COMPLETED).then(resolve)
    })
  const handlers = sharingOf(own)
  const observe = (observation: Observation): void => void observed.push(observation)
  await inbox.start(handle, makePolicy({ observe, ...policy, handlers }))
  return {
    inbox,
    runs,
    observed,
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

/** Publishes once. The case publishes anything further. */
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

/** Creates a receiver's policy, for cases that do not depend on it. */
export function sharingPolicy(): ProcessingPolicy {
  return makePolicy({ handlers: sharingOf(publication()) })
}

let published = 0

/** Creates the data published by a process. */
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

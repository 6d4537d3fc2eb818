import {
  AckhookError,
  ConfigurationError,
  type Delivery,
  type DrainReport,
  type Inbox,
  type MaybePromise,
} from '@ackhook/core'
import { type Acceptance, type Process, type ProcessingPolicy, withDeadline } from '@ackhook/core/spi'
import { createIntake, FULL, type Intake } from './accepting/accept.ts'
import { createArrivals } from './accepting/coalesce.ts'
import { createEngine, type Engine } from './create-engine.ts'
import { createDeadLetters } from './dead-letters.ts'
import { within } from './lib/within.ts'
import { type BullmqInboxOptions, resolveOptions } from './options.ts'
import { startWork, type Work } from './processing/worker.ts'
import { askToWrite, cannotStart } from './start-check.ts'
import { readStats } from './stats.ts'

/** About a day: 10 s, 50 s, 4 min, 21 min, 1.7 h, 9 h and 12 h, less a random part of each. */
const RETRY = { attempts: 8, minDelayMs: 10_000, maxDelayMs: 43_200_000, factor: 5 }
const CANNOT_SERIALIZE =
  'BullMQ cannot run the events of one key one at a time; use sqliteInbox, or leave the option out and let handlers compare created_at'
const CLOSE_MS = 1000
/** About ten round trips, which may be to another continent, or to a server that is being woken. */
const START_MS = 5000
const MIGRATION_MS = 60_000

/**
 * The durable inbox for many machines: BullMQ on Redis or PostgreSQL. A 2xx is sent only after the server has
 * taken the event, which is as safe there as the server's own settings make it. With `concurrency: 0` a process
 * only receives; one whose receiver is never mounted only works. Throws `ConfigurationError`.
 *
 * @example
 * const hooks = webhooks({ secret, inbox: bullmqInbox({ connection: 'redis://localhost:6379' }) })
 */
export function bullmqInbox(options: BullmqInboxOptions): Inbox {
  const resolved = resolveOptions(options)
  const arrivals = createArrivals()
  let opening: Promise<Engine> | undefined
  let current: Engine | undefined
  let shutting: Promise<void> | undefined
  let intake: Intake | undefined
  let work: Work | undefined
  let closed = false

  async function engine(): Promise<Engine> {
    if (closed) throw closedError()
    opening ??= createEngine(resolved).then(
      made => {
        current = made
        return made
      },
      error => {
        opening = undefined
        throw error
      },
    )
    return opening
  }

  async function start(process: Process, policy: ProcessingPolicy): Promise<void> {
    if (policy.serialize) throw new ConfigurationError('serializeBy', CANNOT_SERIALIZE)
    const opened = await engine()
    try {
      await inTime(begin(opened, process, policy), opened)
    } catch (cause) {
      // BullMQ remembers a failed beginning for ever, and one that only took too long must not end under the next
      // start: that has connections of its own.
      shut(opened)
      throw cause instanceof AckhookError ? cause : cannotStart(cause)
    }
    intake = createIntake(opened, policy)
    void tellNotices(opened, policy)
  }

  async function begin(opened: Engine, process: Process, policy: ProcessingPolicy): Promise<void> {
    // First the queue: on a server it cannot work with, BullMQ's worker would try again without a pause.
    await opened.queue.waitUntilReady()
    await askToWrite(opened, START_MS)
    if (closed || current !== opened) throw closedError()
    if (policy.concurrency > 0) work ??= startWork({ engine: opened, process, policy, options: resolved })
    await work?.ready()
  }

  function accept(delivery: Delivery): MaybePromise<Acceptance> {
    if (intake === undefined)
      throw new ConfigurationError('inbox', 'start() must come before the first event')
    return intake.isOverrun() ? FULL : arrivals.accept(delivery, intake.accept)
  }

  async function close(timeoutMs: number): Promise<DrainReport> {
    closed = true
    const opened = await opening?.catch(() => undefined)
    const working = work
    work = undefined
    await Promise.all([working?.drain(timeoutMs), arrivals.settled()])
    if (opened !== undefined) shut(opened)
    await shutting
    return { lost: 0 }
  }

  /** From this line on the engine is nobody's, and the next one is another. */
  function shut(opened: Engine): void {
    if (current !== opened) return
    const [working, before] = [work, shutting]
    opening = current = work = undefined
    shutting = (async () => {
      await within(Promise.resolve(working?.drain(0)), CLOSE_MS)
      await within(opened.queue.close(), CLOSE_MS)
      await within(opened.disconnect(), CLOSE_MS)
      await before
    })()
  }

  return {
    durable: true,
    defaultRetry: RETRY,
    defaultCapacity: 100_000,
    cannotSerialize: CANNOT_SERIALIZE,
    accept,
    start,
    close,
    stats: async () => readStats((await engine()).queue),
    deadLetters: createDeadLetters(engine),
  }
}

/** Only tables that are being made may take longer: what is given up is rolled back. */
async function inTime(begun: Promise<void>, { migrating }: Engine): Promise<void> {
  const operation = 'inbox.start'
  if (migrating === undefined) return withDeadline(begun, { operation, ms: START_MS })
  await withDeadline(Promise.race([begun, migrating]), { operation, ms: START_MS })
  return withDeadline(begun, { operation, ms: MIGRATION_MS })
}

function closedError(): AckhookError {
  return new AckhookError('inbox_unavailable', 'The inbox is closed.')
}

async function tellNotices(engine: Engine, { observe, logger }: ProcessingPolicy): Promise<void> {
  // Managed servers may forbid the question.
  for (const notice of await engine.notices().catch(() => [])) {
    observe({ kind: 'notice', ...notice })
    logger.warn({ code: notice.code }, notice.message)
  }
}

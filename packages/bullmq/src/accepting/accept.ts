import type { Delivery } from '@ackhook/core'
import { type Acceptance, type ProcessingPolicy, withDeadline } from '@ackhook/core/spi'
import type { JobsOptions } from 'bullmq'
import type { Engine, KnownJob } from '../create-engine.ts'
import { createTokens, jobIdOf, type NewJob, toJobData } from '../engine/event-job.ts'
import { BACKOFF } from '../processing/job-errors.ts'
import { createGauge } from './capacity.ts'
import { createBatches } from './group-commit.ts'

/** BullMQ and its clients wait for ever for a server that is gone; the sender would wait with them. */
const DEADLINE_MS = 1000
const SLOW_MS = 250
const TRIES = 3
/**
 * How many deliveries may ask the server at one time while it is full, because one of an event that is safe already is
 * to be told so. The others are refused here: what is refused must cost less than what is taken in.
 */
const ASKED_WHEN_FULL = 64

const REPLICA =
  'the server may be asked through a pooler whose replica lags; send every statement to the primary'

const ACCEPTED: Acceptance = { outcome: 'accepted' }
const DUPLICATE: Acceptance = { outcome: 'duplicate' }
const CONFLICT: Acceptance = { outcome: 'duplicate', conflict: true }
export const FULL: Acceptance = { outcome: 'full' }

/** Step 8: a delivery becomes a job, once. */
export interface Intake {
  accept(delivery: Delivery): Promise<Acceptance>
  /** Whether the next delivery is refused without a look whether its event is safe already. */
  isOverrun(): boolean
}

export function createIntake(engine: Engine, policy: ProcessingPolicy): Intake {
  const gauge = createGauge(engine, policy.capacity, DEADLINE_MS)
  const newToken = createTokens()
  // With telemetry each add is a span of its own delivery, so it is made in that delivery's context.
  const add = engine.traced
    ? (job: NewJob) => engine.add([job])[0]!
    : createBatches({ send: engine.add, textOf: ({ data }) => data.body.length, deadlineMs: DEADLINE_MS })
  // A server that is full is asked about deliveries that come together: one by one that costs more than they do.
  const look = createBatches({ send: lookAt, deadlineMs: DEADLINE_MS })
  let asking = 0
  const jobOptions: JobsOptions = {
    attempts: policy.retry.attempts,
    backoff: { type: BACKOFF },
    // The finished job is the memory of its id.
    removeOnComplete: { age: Math.ceil(policy.retentionMs / 1000) },
    removeOnFail: false,
  }

  function lookAt(jobIds: readonly string[]): readonly Promise<KnownJob | undefined>[] {
    const looked = engine.look(jobIds)
    return jobIds.map(async jobId => (await looked).get(jobId))
  }

  /**
   * The add is atomic and does nothing where the id is known. A job with our token is our own: a client may repeat
   * a command whose reply was lost, and on Redis the job that was known may be another one of the batch.
   */
  async function put(delivery: Delivery, token: string, tries = TRIES): Promise<Acceptance> {
    const jobId = jobIdOf(delivery.key)
    const data = toJobData(delivery, token)
    if (await add({ name: delivery.type, data, opts: { jobId, ...jobOptions } })) return ACCEPTED
    const known = await look(jobId)
    if (known?.token === token) return ACCEPTED
    if (known !== undefined) return again(known, delivery, token, tries)
    // Discarded after the add had found it there: nothing holds the event now.
    if (tries === 1) throw new Error(`job ${jobId} is not found after an add: ${REPLICA}`)
    return retry(delivery, token, tries)
  }

  function retry(delivery: Delivery, token: string, tries: number): Promise<Acceptance> {
    if (tries > 1) return put(delivery, token, tries - 1)
    throw new Error(`job ${jobIdOf(delivery.key)} changed its state ${TRIES} times`)
  }

  /** BullMQ keeps failed jobs and silently ignores an add with their id: such an event has to be re-armed. */
  async function again(
    known: KnownJob,
    delivery: Delivery,
    token: string,
    tries: number,
  ): Promise<Acceptance> {
    if (!known.dead) return duplicateOf(known, delivery)
    const renewed = { name: delivery.type, data: toJobData(delivery, token) }
    if (await engine.rearm(jobIdOf(delivery.key), renewed)) return ACCEPTED
    // Re-armed by somebody else, or discarded since we looked: the next look tells.
    return retry(delivery, token, tries)
  }

  /** Refuses what is new; a duplicate needs no room. */
  async function refuse(delivery: Delivery): Promise<Acceptance> {
    if (asking >= ASKED_WHEN_FULL) return FULL
    asking++
    try {
      const known = await look(jobIdOf(delivery.key))
      return known === undefined || known.dead ? FULL : duplicateOf(known, delivery)
    } finally {
      asking--
    }
  }

  async function accept(delivery: Delivery): Promise<Acceptance> {
    const startedAt = performance.now()
    const leftMs = (): number => DEADLINE_MS - (performance.now() - startedAt)
    let hasRoom = false
    try {
      const room = gauge.reserve()
      hasRoom = typeof room === 'boolean' ? room : await room
      const answer = hasRoom ? put(delivery, newToken()) : refuse(delivery)
      const acceptance = await withDeadline(answer, { operation: 'inbox.accept', ms: Math.max(1, leftMs()) })
      const durationMs = performance.now() - startedAt
      if (durationMs > SLOW_MS) policy.observe({ kind: 'store_slow', operation: 'accept', durationMs })
      return acceptance
    } catch (error) {
      const cause = withoutPayload(error)
      // A job that is added after all does no harm: the sender's retry is its duplicate.
      policy.observe({ kind: 'store_down', operation: 'accept', error: cause })
      return { outcome: 'unavailable', code: 'inbox_unavailable', cause }
    } finally {
      // Also of one that was never answered: otherwise its room would be gone until the connection is.
      if (hasRoom) gauge.release()
    }
  }

  return { accept, isOverrun: () => asking >= ASKED_WHEN_FULL && gauge.isKnownFull() }
}

function duplicateOf(known: KnownJob, delivery: Delivery): Acceptance {
  return known.fingerprint === delivery.fingerprint ? DUPLICATE : CONFLICT
}

/** Where ioredis puts the arguments of a command that Redis refused, and PostgreSQL the values it did. */
const QUOTING = ['command', 'detail', 'where'] as const

/** The same error, without what it quotes of an event: loggers print all of an error, and payload data belongs in no log. */
export function withoutPayload(error: unknown): unknown {
  if (error instanceof Error) for (const name of QUOTING) Reflect.deleteProperty(error, name)
  return error
}

import { type Acceptance, type Delivery, type ProcessingPolicy, withDeadline } from '@ackhook/core'
import type { JobsOptions } from 'bullmq'
import { BACKOFF } from './attempt-failure.ts'
import { createBatches } from './batches.ts'
import type { Engine } from './engine.ts'
import { createTokens, type EventJob, jobIdOf, type NewJob, toJobData } from './event-job.ts'
import { createGauge } from './gauge.ts'
import { isDead } from './is-dead.ts'

/** BullMQ and its clients wait for ever for a server that is gone; the sender would wait with them. */
export const DEADLINE_MS = 1000
const SLOW_MS = 250
const TRIES = 3

const ACCEPTED: Acceptance = { outcome: 'accepted' }
const DUPLICATE: Acceptance = { outcome: 'duplicate' }
const CONFLICT: Acceptance = { outcome: 'duplicate', conflict: true }
const FULL: Acceptance = { outcome: 'full' }

/** Step 8: a delivery becomes a job, once. */
export function createIntake(
  engine: Engine,
  policy: ProcessingPolicy,
): (delivery: Delivery) => Promise<Acceptance> {
  const { queue } = engine
  const gauge = createGauge(queue, policy.capacity)
  const newToken = createTokens()
  // With telemetry each add is a span of its own delivery, so it is made in that delivery's context.
  const add = engine.traced ? (job: NewJob) => engine.add([job])[0]! : createBatches(engine.add, DEADLINE_MS)
  const jobOptions: JobsOptions = {
    attempts: policy.retry.attempts,
    backoff: { type: BACKOFF },
    // The finished job is the memory of its id.
    removeOnComplete: { age: Math.ceil(policy.retentionMs / 1000) },
    removeOnFail: false,
  }

  /**
   * The add is atomic and does nothing where the id is known. A job with our token is our own: a client may repeat
   * a command whose reply was lost, and on Redis the job that was known may be another one of the batch.
   */
  async function put(delivery: Delivery, token: string, tries = TRIES): Promise<Acceptance> {
    const jobId = jobIdOf(delivery.key)
    const data = toJobData(delivery, token)
    if (await add({ name: delivery.type, data, opts: { ...jobOptions, jobId } })) return ACCEPTED
    const known = await queue.getJob(jobId)
    if (known?.data.token === token) return ACCEPTED
    if (known !== undefined) return again(known, delivery, token, tries)
    // Discarded after the add had found it there: nothing holds the event now.
    return retry(delivery, token, tries)
  }

  function retry(delivery: Delivery, token: string, tries: number): Promise<Acceptance> {
    if (tries > 1) return put(delivery, token, tries - 1)
    throw new Error(`job ${jobIdOf(delivery.key)} changed its state ${TRIES} times`)
  }

  /** BullMQ keeps failed jobs and silently ignores an add with their id: such an event has to be re-armed. */
  async function again(
    known: EventJob,
    delivery: Delivery,
    token: string,
    tries: number,
  ): Promise<Acceptance> {
    const conflict = known.data.fingerprint !== delivery.fingerprint
    if (!(await isDead(known))) return conflict ? CONFLICT : DUPLICATE
    const renewed = { name: delivery.type, data: toJobData(delivery, token) }
    if (await engine.rearm(jobIdOf(delivery.key), renewed)) return ACCEPTED
    // Re-armed by somebody else, or discarded since we looked: the next look tells.
    return retry(delivery, token, tries)
  }

  /** Refuses what is new; a duplicate needs no room. */
  async function refuse(delivery: Delivery): Promise<Acceptance> {
    const known = await queue.getJob(jobIdOf(delivery.key))
    if (known === undefined || (await isDead(known))) return FULL
    return known.data.fingerprint === delivery.fingerprint ? DUPLICATE : CONFLICT
  }

  async function admit(delivery: Delivery): Promise<Acceptance> {
    const full = gauge.isFull()
    if (full !== false && (full === true || (await full))) return refuse(delivery)
    gauge.add()
    return put(delivery, newToken())
  }

  return async delivery => {
    const startedAt = performance.now()
    try {
      const acceptance = await withDeadline(admit(delivery), { operation: 'inbox.accept', ms: DEADLINE_MS })
      const durationMs = performance.now() - startedAt
      if (durationMs > SLOW_MS) policy.observe({ kind: 'store_slow', operation: 'accept', durationMs })
      return acceptance
    } catch (cause) {
      // A job that is added after all does no harm: the sender's retry is its duplicate.
      policy.observe({ kind: 'store_down', operation: 'accept', error: cause })
      return { outcome: 'unavailable', code: 'inbox_unavailable', cause }
    }
  }
}

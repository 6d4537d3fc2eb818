import type { Delivery, MaybePromise } from '@ackhook/core'
import {
  ACCEPT_RESULTS,
  type AcceptResult,
  createTokens,
  isError,
  MAX_LOOKUPS_WHEN_FULL,
  type ProcessingPolicy,
  withDeadline,
} from '@ackhook/core/spi'
import type { JobsOptions } from 'bullmq'
import type { Engine, KnownJob } from '../engine/engine.ts'
import { BACKOFF, jobIdOf, type NewJob, toJobData, toJobOrder } from '../engine/event-job.ts'
import { ORDER } from '../engine/form.ts'
import type { Pruner } from '../retention/pruner.ts'
import { CapacityCounter } from './capacity-counter.ts'
import { GroupCommit } from './group-commit.ts'
import { SingleFlight } from './single-flight.ts'

/** BullMQ and its clients wait forever for a server that is gone, and the sender's request would hang too. */
const DEADLINE_MS = 1000
const SLOW_MS = 250
const MAX_TRIES = 3
const REPLICA_FIX =
  'a pooler may be sending queries to a lagging replica; send every statement to the primary'

/** Step 8: turns each delivery into one job. */
export class Acceptor {
  readonly #engine: Engine
  readonly #policy: ProcessingPolicy
  readonly #pruner: Pick<Pruner, 'relieve'>
  readonly #onAccepted: () => void
  readonly #capacity: CapacityCounter
  readonly #flights = new SingleFlight(delivery => this.#acceptWithinDeadline(delivery))
  readonly #adds: GroupCommit<NewJob, boolean | KnownJob>
  /** Batches lookups: one by one, they would cost a busy server more than the deliveries. */
  readonly #lookups: GroupCommit<string, KnownJob | undefined>
  readonly #jobOptions: JobsOptions
  readonly #newToken = createTokens()
  #lookupsWhenFull = 0

  constructor(
    engine: Engine,
    policy: ProcessingPolicy,
    pruner: Pick<Pruner, 'relieve'>,
    onAccepted: () => void,
  ) {
    this.#onAccepted = onAccepted
    this.#engine = engine
    this.#policy = policy
    this.#pruner = pruner
    this.#capacity = new CapacityCounter(engine, policy.capacity, DEADLINE_MS)
    this.#adds = new GroupCommit({
      send: jobs => engine.add(jobs),
      lengthOf: ({ data }) => data.body.length,
      deadlineMs: DEADLINE_MS,
    })
    this.#lookups = new GroupCommit({ send: jobIds => this.#sendLookup(jobIds), deadlineMs: DEADLINE_MS })
    this.#jobOptions = {
      attempts: policy.retry.attempts,
      backoff: { type: BACKOFF },
      // The finished job keeps its id until the pruner replaces the job.
      removeOnComplete: false,
      removeOnFail: false,
    }
  }

  accept(delivery: Delivery): MaybePromise<AcceptResult> {
    const refusesUnseen = this.#lookupsWhenFull >= MAX_LOOKUPS_WHEN_FULL && this.#capacity.isKnownFull()
    return refusesUnseen ? ACCEPT_RESULTS.full : this.#flights.accept(delivery)
  }

  /** Resolves when all current deliveries have a result. */
  settled(): Promise<void> {
    return this.#flights.settled()
  }

  async #acceptWithinDeadline(delivery: Delivery): Promise<AcceptResult> {
    const { observe } = this.#policy
    const startedAt = performance.now()
    let hasRoom = false
    try {
      const room = this.#capacity.reserve()
      hasRoom = typeof room === 'boolean' ? room : await room
      const answer = hasRoom ? this.#store(delivery) : this.#refuse(delivery)
      const leftMs = Math.max(1, DEADLINE_MS - (performance.now() - startedAt))
      const acceptance = await withDeadline(answer, { operation: 'inbox.accept', ms: leftMs })
      const durationMs = performance.now() - startedAt
      if (acceptance.outcome === 'accepted') this.#onAccepted()
      if (durationMs > SLOW_MS) observe({ kind: 'store_slow', operation: 'accept', durationMs })
      return acceptance
    } catch (error) {
      const cause = this.#engine.reasonOf(withoutPayload(error))
      this.#pruner.relieve(cause)
      // A job that is added despite the timeout does no harm: the sender's retry is a duplicate of it.
      observe({ kind: 'store_down', operation: 'accept', error: cause })
      return { outcome: 'unavailable', code: 'inbox_unavailable', cause }
    } finally {
      // Release the slot even without a result; otherwise it stays reserved until the connection ends.
      if (hasRoom) this.#capacity.release()
    }
  }

  /**
   * An add is atomic and does nothing if the id is known. A known job with this token is the caller's own: a client may
   * resend a command whose reply was lost, and on Redis the known job may be another one of the batch.
   */
  async #store(delivery: Delivery): Promise<AcceptResult> {
    const jobId = jobIdOf(delivery.key)
    const data = toJobData(delivery, this.#newToken(), this.#policy.retentionMs)
    const order = delivery.order && toJobOrder(delivery.order)
    const opts = { jobId, ...this.#jobOptions, ...(order && { [ORDER]: order }) }
    const job = { name: delivery.type, data, opts }
    let known: KnownJob | undefined
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const added = await this.#add(job)
      if (added === true) return ACCEPT_RESULTS.accepted
      known = added || (await this.#lookups.submit(jobId))
      if (known?.token === data.token) return ACCEPT_RESULTS.accepted
      if (known?.dead === false) return duplicateOf(known, delivery)
      // BullMQ silently ignores an add with a failed job's id, so that job is requeued. If it was requeued or discarded
      // since the lookup, start over.
      if (known?.dead && (await this.#engine.requeue(jobId, job))) return insteadOf(known, delivery)
    }
    if (known === undefined) throw new Error(`job ${jobId} was not found after it was added: ${REPLICA_FIX}`)
    throw new Error(`job ${jobId} changed its state ${MAX_TRIES} times`)
  }

  #add(job: NewJob): Promise<boolean | KnownJob> {
    // Each add is a span of its delivery under telemetry, so it runs in that delivery's context.
    return this.#engine.traced ? this.#engine.add([job])[0]! : this.#adds.submit(job)
  }

  /** Refuses a new event. A duplicate needs no room. */
  async #refuse(delivery: Delivery): Promise<AcceptResult> {
    if (this.#lookupsWhenFull >= MAX_LOOKUPS_WHEN_FULL) return ACCEPT_RESULTS.full
    this.#lookupsWhenFull++
    try {
      const known = await this.#lookups.submit(jobIdOf(delivery.key))
      return known === undefined || known.dead ? ACCEPT_RESULTS.full : duplicateOf(known, delivery)
    } finally {
      this.#lookupsWhenFull--
    }
  }

  #sendLookup(jobIds: readonly string[]): readonly Promise<KnownJob | undefined>[] {
    const lookup = this.#engine.lookUp(jobIds)
    return jobIds.map(async jobId => (await lookup).get(jobId))
  }
}

/** Result of a redelivery that replaced a dead letter. If that dead letter is unreadable, its bytes are unknown. */
function insteadOf({ fingerprint }: KnownJob, delivery: Delivery): AcceptResult {
  const isKnown = fingerprint !== undefined && fingerprint !== delivery.fingerprint
  return isKnown ? ACCEPT_RESULTS.replaced : ACCEPT_RESULTS.accepted
}

/** Throws for a job that cannot be read. Once that job is a dead letter, the next delivery replaces it. */
function duplicateOf(known: KnownJob, delivery: Delivery): AcceptResult {
  if (known.fingerprint === undefined) throw new Error("this event's job exists but cannot be read")
  return known.fingerprint === delivery.fingerprint ? ACCEPT_RESULTS.duplicate : ACCEPT_RESULTS.conflict
}

/** Properties in which ioredis stores a refused command's arguments, and PostgreSQL the refused values. */
const QUOTING = ['command', 'detail', 'where'] as const

/** Removes the payload quoted in an error: loggers print the whole error, and no log may contain payloads. */
function withoutPayload(error: unknown): unknown {
  if (isError(error)) for (const name of QUOTING) Reflect.deleteProperty(error, name)
  return error
}

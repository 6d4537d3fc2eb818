import { type DeliveryRules, nextAttemptAt } from '@ackhook/testing/spi'
import { Alarm, type EmulatorClock } from '../clock/emulator-clock.ts'
import type { Endpoints } from '../endpoints/endpoints.ts'
import type { Targets } from '../security/targets.ts'
import type { DeliveryMark } from '../shapes/requests.ts'
import {
  type AttemptOutcome,
  type AttemptRow,
  addMarks,
  type DeliveryRow,
  type NewDelivery,
} from '../storage/delivery-row.ts'
import type { EndpointRow } from '../storage/endpoint-rows.ts'
import { attemptBytes } from '../storage/log-size.ts'
import type { Storage } from '../storage/storage.ts'
import { type AttemptPlan, attemptRow } from './attempt-row.ts'
import { decisionRandom, type FaultSource } from './fault-source.ts'
import type { DeliveryCounts, LogRoom } from './log-room.ts'

/** Events of the engine's work. */
export interface EngineEvents {
  /** Called when a delivery has changed. */
  changed(seq: number): void
  /** Called when an endpoint's health warning has appeared or cleared. */
  health(workspace: string): void
  /** Called when deliveries cannot be read, sent or recorded. */
  failed(error: unknown): void
}

interface EngineParts {
  readonly storage: Storage
  readonly clock: EmulatorClock
  readonly endpoints: Endpoints
  readonly targets: Targets
  readonly counts: DeliveryCounts
  readonly room: LogRoom
  readonly faults: FaultSource
  readonly rules: DeliveryRules
  readonly concurrency: number
  readonly seed: () => number
  readonly events: EngineEvents
}

/** Pause after a storage failure. */
const AFTER_FAILURE_MS = 1000

/** An attempt that has ended but is not recorded yet. */
interface Ended {
  readonly plan: AttemptPlan
  readonly attempt: AttemptRow
  /** Once aborted, the attempt is not recorded. */
  readonly signal: AbortSignal
}

/**
 * Starts due deliveries. The schedule is only in the storage, and this class holds only the attempts under way. A
 * restart after a kill therefore continues where the process stopped.
 */
export class DeliveryEngine {
  readonly #parts: EngineParts
  #isStopped = false
  #isClosed = false
  /** Aborts the attempts under way. */
  #running = new AbortController()
  readonly #alarm: Alarm
  /** Attempts under way, by workspace. */
  readonly #underWay = new Map<string, number>()
  #total = 0
  readonly #ended: Ended[] = []
  #idle: (() => void)[] = []
  #isStarting = false

  constructor(parts: EngineParts) {
    this.#parts = parts
    this.#alarm = new Alarm(parts.clock, () => this.startDue())
  }

  /** Starts due deliveries, as many as may run. Call it after any change that may have made one due. */
  startDue(): void {
    if (this.#isStopped || this.#isStarting) return
    this.#isStarting = true
    try {
      for (const { id } of this.#parts.endpoints.workspaces()) this.#startDueOf(id)
      this.#alarm.set(this.#nextWake())
    } catch (error) {
      this.#parts.events.failed(error)
      this.#alarm.set(this.#parts.clock.now() + AFTER_FAILURE_MS)
    } finally {
      this.#isStarting = false
    }
  }

  /** Returns the time of the next attempt. Paused endpoints get none. */
  nextDue(): number | undefined {
    return this.#soonest(() => true)
  }

  /** Resolves when every due delivery has been attempted. */
  async settle(): Promise<void> {
    for (;;) {
      this.startDue()
      await this.#whenIdle()
      const next = this.nextDue()
      if (this.#isStopped || next === undefined || next > this.#parts.clock.now()) return
    }
  }

  /** Aborts the attempts under way without recording them, and runs `work` while none is running. */
  async whileStopped(work: () => void): Promise<void> {
    await this.#stop()
    if (this.#isClosed) return
    try {
      work()
    } finally {
      this.#isStopped = false
      this.startDue()
    }
  }

  /** Stops for good. Attempts under way are repeated when the emulator restarts. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.#stop()
  }

  async #stop(): Promise<void> {
    this.#isStopped = true
    this.#running.abort()
    this.#running = new AbortController()
    this.#alarm.set(undefined)
    await this.#whenIdle()
  }

  #whenIdle(): Promise<void> {
    if (this.#total === 0) return Promise.resolve()
    return new Promise(resolve => this.#idle.push(resolve))
  }

  #resolveIdle(): void {
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #startDueOf(workspace: string): void {
    const endpoint = this.#parts.endpoints.find(workspace)
    const free = this.#freeOf(workspace)
    if (endpoint === undefined || free <= 0) return
    const which = dueAt(endpoint)
    const { storage, clock } = this.#parts
    const now = clock.now()
    const next = storage.deliveries.nextDue(workspace, which)
    if (next === undefined || next > now) return
    const rows = storage.transaction(() => storage.deliveries.takeDue(workspace, now, free, which))
    for (const row of rows) void this.#deliver(row, endpoint)
  }

  async #deliver(delivery: DeliveryRow, endpoint: EndpointRow): Promise<void> {
    const { signal } = this.#running
    this.#count(delivery.workspace, 1)
    try {
      this.#parts.events.changed(delivery.seq)
      const plan = this.#planOf(delivery, endpoint)
      const { rules, targets, clock } = this.#parts
      const attempt = await attemptRow(plan, { rules, targets, signal, now: () => clock.now() })
      this.#end({ plan, attempt, signal })
    } catch (error) {
      this.#parts.events.failed(error)
      this.#count(delivery.workspace, -1)
    }
  }

  /** Records an attempt in one transaction with all others that end in this turn. */
  #end(ended: Ended): void {
    if (this.#ended.push(ended) === 1) setImmediate(() => this.#recordEnded())
  }

  #recordEnded(): void {
    const all = this.#ended.splice(0)
    const kept = all.filter(({ signal }) => !signal.aborted)
    let isRecorded = true
    try {
      if (kept.length > 0) this.#recordAll(kept)
    } catch (error) {
      isRecorded = false
      this.#parts.events.failed(error)
      // Unrecorded attempts keep their slots, so their number stays bounded.
      this.#ended.push(...kept)
      setTimeout(() => this.#recordEnded(), AFTER_FAILURE_MS).unref()
    }
    for (const { plan } of isRecorded ? all : all.filter(({ signal }) => signal.aborted)) {
      this.#count(plan.delivery.workspace, -1)
    }
    // Starts due deliveries before resolving: a clock advanced during an attempt would shift its retries.
    this.startDue()
    if (this.#total === 0) this.#resolveIdle()
  }

  #recordAll(ended: readonly Ended[]): void {
    const { storage, events } = this.#parts
    const recorded = storage.transaction(() => ended.map(one => this.#record(one)))
    const changes = ended.map(
      ({ plan }) =>
        () =>
          events.changed(plan.delivery.seq),
    )
    for (const announce of [...recorded, ...changes]) this.#guard(announce)
  }

  /** Keeps a listener's error from undoing a record. */
  #guard(announce: () => void): void {
    try {
      announce()
    } catch (error) {
      this.#parts.events.failed(error)
    }
  }

  #planOf(delivery: DeliveryRow, endpoint: EndpointRow): AttemptPlan {
    const { storage, clock, endpoints, faults, seed } = this.#parts
    return {
      delivery,
      body: storage.deliveries.bodyOf(delivery.seq),
      url: delivery.target ?? endpoint.url,
      secrets: endpoints.secretsOf(endpoint),
      at: clock.now(),
      faults: faults.forAttempt(delivery.faults, delivery.attempts + 1),
      random: decisionRandom(seed(), `${delivery.draw} attempt ${delivery.attempts + 1}`),
    }
  }

  /** Records an attempt within a transaction. Returns a function to call after the commit. */
  #record({ plan, attempt }: Ended): () => void {
    const { storage, counts, endpoints, events } = this.#parts
    const { seq, workspace, target } = plan.delivery
    const before = storage.deliveries.bySeq(seq)
    if (before === undefined) return () => {}
    const outcome = this.#outcomeOf(plan, attempt, before)
    // A duplicate replaces a pending delivery, so the limit on open deliveries still holds.
    const isFirst = outcome.state === 'acknowledged' && before.state === 'pending'
    const again = isFirst ? this.#duplicateOf(plan) : undefined
    storage.deliveries.record(this.#fitted(attempt), outcome, marksAfter(before, attempt))
    const added = again && storage.deliveries.insert(again)
    return () => {
      counts.move(before.state, outcome.state)
      if (added !== undefined) {
        counts.add(added.state)
        events.changed(added.seq)
      }
      if (target === null && endpoints.recordResult({ ...attempt, workspace })) events.health(workspace)
    }
  }

  /** Shortens an attempt if the log is full: only the last reply is kept, or only its status. */
  #fitted(attempt: AttemptRow): AttemptRow {
    const { storage, room } = this.#parts
    if (!room.isFullFor(attemptBytes(attempt))) return attempt
    storage.deliveries.dropReplies(attempt.seq)
    if (!room.isFullFor(attemptBytes(attempt))) return attempt
    return { ...attempt, reply_headers: '[]', reply_body: new Uint8Array(), truncated: 1 }
  }

  #outcomeOf(
    { delivery, faults, random }: AttemptPlan,
    attempt: AttemptRow,
    before: DeliveryRow,
  ): AttemptOutcome {
    const { rules, clock } = this.#parts
    const now = clock.now()
    if (attempt.acknowledged === 1)
      return { state: 'acknowledged', next_at: null, ended_at: now, reason: null }
    // Discarded or replayed while the attempt was under way.
    if (before.state !== 'pending')
      return { state: before.state, next_at: null, ended_at: now, reason: before.reason }
    const { number, retry_after_ms } = attempt
    const startedAt = delivery.started_at ?? attempt.at
    const failed = {
      number,
      now,
      startedAt,
      ...(retry_after_ms !== null && { retryAfterMs: retry_after_ms }),
    }
    const nextAt = nextAttemptAt(failed, random, rules, faults.delayMs)
    if (nextAt !== undefined) {
      return { state: 'pending', next_at: Math.ceil(nextAt), ended_at: null, reason: null }
    }
    const ended = { next_at: null, ended_at: now }
    if (delivery.kind === 'duplicate')
      return { ...ended, state: 'discarded', reason: 'it was a deliberate duplicate' }
    // What it repeats is still undelivered, or was acknowledged.
    if (delivery.target !== null)
      return { ...ended, state: 'discarded', reason: 'it was a replay to another address' }
    return { ...ended, state: 'undelivered', reason: null }
  }

  /** Returns a duplicate of an acknowledged event if the fault `duplicate` hits it. */
  #duplicateOf({ delivery, faults, body }: AttemptPlan): NewDelivery | undefined {
    const random = decisionRandom(this.#parts.seed(), `${delivery.draw} again`)
    if (delivery.kind !== 'event' || random() >= faults.duplicate) return undefined
    const now = this.#parts.clock.now()
    const { workspace, event_id, type, category, message, faults: own } = delivery
    const same = { workspace, event_id, type, category, message, faults: own, body }
    return {
      ...same,
      kind: 'duplicate',
      draw: `${delivery.draw} again`,
      state: 'pending',
      created_at: now,
      next_at: now,
      origin: delivery.id,
    }
  }

  #count(workspace: string, by: 1 | -1): void {
    this.#total += by
    this.#underWay.set(workspace, (this.#underWay.get(workspace) ?? 0) + by)
  }

  #freeOf(workspace: string): number {
    return this.#parts.concurrency - (this.#underWay.get(workspace) ?? 0)
  }

  /** Returns the time of the next start. Endpoints without a free slot are checked when an attempt ends. */
  #nextWake(): number | undefined {
    return this.#soonest(workspace => this.#freeOf(workspace) > 0)
  }

  #soonest(counts: (workspace: string) => boolean): number | undefined {
    let soonest: number | undefined
    for (const { id } of this.#parts.endpoints.workspaces()) {
      const endpoint = this.#parts.endpoints.find(id)
      if (endpoint === undefined || !counts(id)) continue
      const next = this.#parts.storage.deliveries.nextDue(id, dueAt(endpoint))
      if (next !== undefined && (soonest === undefined || next < soonest)) soonest = next
    }
    return soonest
  }
}

/** A paused endpoint gets nothing, but replays go on to other addresses. */
function dueAt({ paused }: EndpointRow): 'all' | 'elsewhere' {
  return paused === 1 ? 'elsewhere' : 'all'
}

function marksAfter(before: DeliveryRow, { number, faults }: AttemptRow): string {
  const injected = JSON.parse(faults) as DeliveryMark[]
  return addMarks(before.marks, [...(number > 1 ? (['retried'] as const) : []), ...injected])
}

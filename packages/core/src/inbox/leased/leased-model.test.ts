import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { inFull } from '../../../../../test/support/in-full.ts'
import { advance } from '../../../../../test/support/memory-inbox.ts'
import { random } from '../../../../../test/support/random.ts'
import { type Attempt, createAttempt } from '../attempt.ts'
import type { Delivery } from '../delivery.ts'
import type { AttemptResult } from '../inbox.ts'
import { type Held, LeaseTime } from '../lease-time.ts'
import { LeasedAttempts } from './leased-attempts.ts'
import type { LeaseEngine, Standing, Take } from './take.ts'

const LEASE_MS = 6000
const RENEW_MS = 2000
/** Longest time between a jump or a stall and the withdrawal: until it is noticed, and for a slow reply. */
const GRACE_MS = 1000 + RENEW_MS
const DRAIN_GRACE_MS = 1200

const below = (most: number): number => Math.floor(random() * most)
const pick = <T>(list: readonly T[]): T => list[below(list.length)]!

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** What becomes of one call of the engine. */
type Fault = 'works' | 'is refused' | 'hangs' | 'is late' | 'loses its reply'
const FAULTS: readonly Fault[] = ['is refused', 'hangs', 'is late', 'loses its reply']

/** One take, with what the model counts of it. */
class ModelTake implements Take {
  readonly delivery: Delivery
  readonly lease = new LeaseTime(LEASE_MS)
  attempt: Attempt = createAttempt(1)
  standing: Standing | undefined = undefined
  /** Its lease at the server: until then by the true time, unless another owner has it. */
  leasedUntil: number
  isOthers = false
  attempts = 0
  /** Results that counted, and what became of them. */
  judged = 0
  recorded = 0
  reported = 0
  isOver = false

  constructor(id: string, now: number) {
    this.delivery = { id, type: 'a.b', namespace: '' } as Delivery
    this.leasedUntil = now + LEASE_MS
  }
}

/** A server of leases, a process on it, and both clocks of that process. */
class Model implements LeaseEngine<ModelTake> {
  readonly faults: string[] = []
  readonly attempts: LeasedAttempts<ModelTake>
  readonly takes: ModelTake[] = []
  readonly #waits = random() < 0.5
  #fault: Fault = 'works'
  /** Milliseconds that the true time is ahead of the fake monotonic clock, since the machine was suspended. */
  #suspendedMs = 0
  /** When the process last stood still, or a clock jumped. Monotonic. */
  #stoodStillAt = Number.NEGATIVE_INFINITY
  isDrained = false

  constructor() {
    const observe = (one: { readonly kind: string; readonly id?: string }): void => this.#observed(one)
    this.attempts = new LeasedAttempts<ModelTake>({
      engine: this,
      work: ({ id }, attempt) => this.#work(id, attempt),
      policy: { observe: observe as never },
      renewMs: RENEW_MS,
      recordsUnderLease: random() < 0.5,
      onError: () => {},
    })
  }

  get now(): number {
    return performance.now() + this.#suspendedMs
  }

  #isHeld({ isOthers, leasedUntil }: ModelTake): boolean {
    return !isOthers && leasedUntil > this.now
  }

  #fail(what: string): void {
    this.faults.push(what)
  }

  async #call<T>(apply: () => T): Promise<T> {
    switch (this.#fault) {
      case 'is refused':
        throw new Error('refused')
      case 'hangs':
        return new Promise<never>(() => {})
      case 'loses its reply':
        apply()
        throw new Error('the reply was lost')
      case 'is late': {
        const made = apply()
        await new Promise(resolve => setTimeout(resolve, below(2 * LEASE_MS)))
        return made
      }
      default:
        return apply()
    }
  }

  renew(takes: readonly ModelTake[]): Promise<readonly Held[]> {
    return this.#call(() =>
      takes.map(take => {
        if (!this.#isHeld(take)) return 'lost'
        take.leasedUntil = this.now + LEASE_MS
        return 'held'
      }),
    )
  }

  retake(take: ModelTake): Promise<Held> {
    return this.#call(() => {
      if (take.isOthers) return 'lost'
      take.leasedUntil = this.now + LEASE_MS
      return 'held'
    })
  }

  begin(take: ModelTake): Held | Promise<Held> {
    take.attempts++
    take.attempt = createAttempt(take.attempts)
    return random() < 0.8 ? 'held' : this.#call(() => (this.#isHeld(take) ? 'held' : 'lost'))
  }

  async record(take: ModelTake, _: AttemptResult, tries: number): Promise<boolean> {
    if (take.attempt.abortReason?.code === 'lease_lost') this.#fail('a withdrawn attempt is recorded')
    if (tries === 0) take.judged++
    const isOurs = await this.#call(() => !take.isOthers)
    if (isOurs) take.recorded++
    return isOurs
  }

  async giveBack(take: ModelTake): Promise<void> {
    take.isOver = true
    await this.#call(() => {})
  }

  lost(take: ModelTake): void {
    if (!take.isOthers) this.#fail('a take is lost to nobody')
  }

  #work(id: string, attempt: Attempt): Promise<AttemptResult> {
    const take = this.takes.find(one => one.delivery.id === id)!
    if (!this.#isHeld(take)) this.#fail('a handler begins without a lease')
    if (this.isDrained) this.#fail('a handler begins after the drain')
    const outcome = pick(['completed', 'retry', 'dead'] as const)
    const result = { outcome, delayMs: 1, error: new Error('no'), notified: false } as AttemptResult
    const isDeaf = random() < 0.2
    return new Promise(resolve => {
      setTimeout(resolve, below(4 * LEASE_MS), result)
      attempt.onAbort(error => {
        // As the worker, which does not wait for them in a drain.
        if (!isDeaf || error.code === 'drain_timeout') resolve({ outcome: 'retry', delayMs: 0, error })
      })
      attempt.onGivenAway(() => resolve({ outcome: 'retry', delayMs: 0, error: new Error('given away') }))
    })
  }

  #observed({ kind, id }: { readonly kind: string; readonly id?: string }): void {
    const take = this.takes.find(one => one.delivery.id === id)!
    // A withdrawal is reported before its attempt is aborted, and settles no result.
    const isEnd = take.standing?.state === 'recording'
    if (isEnd) take.reported++
    else if (kind !== 'lease_lost' || take.attempt.abortReason?.code === kind)
      this.#fail(`${kind} for nothing`)
  }

  /** Takes an event, and runs it to its end, in one of the two ways. */
  take(): void {
    const take = new ModelTake(`e${this.takes.length}`, this.now)
    this.takes.push(take)
    if (this.#waits) void this.#keep(take)
    else {
      const turn =
        random() < 0.5 ? undefined : new Promise<boolean>(r => setTimeout(r, below(LEASE_MS), true))
      void this.attempts.run(take, turn).then(() => (take.isOver = true))
    }
  }

  async #keep(take: ModelTake): Promise<void> {
    this.attempts.hold(take)
    while (!this.attempts.isOver) {
      const ended = await this.attempts.attempt(take)
      if (ended === 'lost') break
      if (typeof ended !== 'string' && ended.outcome !== 'retry') {
        await this.attempts.record(take, ended)
        break
      }
      this.attempts.hold(take)
      await new Promise(resolve => setTimeout(resolve, below(LEASE_MS)))
    }
    this.attempts.drop(take)
    take.isOver = true
  }

  /** Something happens to the server, the network, the machine or its clock. */
  disturb(): void {
    const ms = below(3 * LEASE_MS)
    const at = below(6)
    if (at === 0) this.#fault = 'works'
    else if (at === 1) this.#fault = pick(FAULTS)
    else if (at === 2) this.#letOthersTake()
    else if (at === 3 || at === 4) {
      // Suspended: the wall clock and the server go on. Or an operator sets the clock forward.
      vi.setSystemTime(Date.now() + ms)
      if (at === 3) this.#suspendedMs += ms
      this.#stoodStillAt = performance.now()
    } else this.take()
  }

  /** Another process asks for events, and gets those whose lease is over at the server. */
  #letOthersTake(): void {
    for (const take of this.takes) if (!take.isOver && take.leasedUntil <= this.now) take.isOthers = true
  }

  check(): void {
    for (const { standing, lease, attempt } of this.takes) {
      if (standing?.state !== 'running' || attempt.abortReason !== undefined || lease.remaining() > 0)
        continue
      if (performance.now() - this.#stoodStillAt <= GRACE_MS) continue
      if (this.isDrained) continue
      this.#fail('an attempt goes on although its lease is over')
    }
  }

  checkEnds(): void {
    // A record that was reported as lost at the end of the drain may still be made.
    for (const { judged, recorded, reported, delivery } of this.takes) {
      if (reported > judged || recorded > judged) this.#fail(`an end of ${delivery.id} is told twice`)
      if (recorded + reported < judged)
        this.#fail(`an end of ${delivery.id} is neither recorded nor reported`)
    }
  }
}

async function play(): Promise<readonly string[]> {
  const model = new Model()
  for (let i = 0; i < 4; i++) model.take()
  const steps = 10 + below(30)
  for (let step = 0; step < steps; step++) {
    model.disturb()
    for (let i = 0; i < 4; i++) {
      await advance(below(1500))
      model.check()
    }
  }
  for (let i = 0; i < 4; i++) model.take()
  const timeoutMs = below(LEASE_MS)
  const startedAt = performance.now()
  const drained = model.attempts.drain(timeoutMs, () => {
    model.isDrained = true
  })
  let hasEnded = false
  void drained.then(() => (hasEnded = true))
  while (!hasEnded && performance.now() - startedAt < timeoutMs + DRAIN_GRACE_MS) await advance(100)
  if (!hasEnded) model.faults.push('the drain does not end in its time')
  await advance(3 * LEASE_MS)
  model.checkEnds()
  return model.faults
}

it('keeps its rules, whatever happens to the server, the network, the machine and its clock', {
  timeout: 600_000,
}, async () => {
  for (let game = 0; game < inFull(300, 12); game++) expect((await play()).join(), `game ${game}`).toBe('')
})

import type { Follower } from '../letters/follower.ts'
import { inLanes } from '../letters/in-lanes.ts'
import { Pace } from '../letters/pace.ts'
import { inTime, untilAborted, wait } from '../letters/wait.ts'
import type { Outcome as Fates } from '../protocol/outcome.ts'
import { Refused } from '../protocol/refused.ts'
import type { Words } from '../protocol/words.ts'
import { Refusals } from './refusals.ts'
import type { Found, Read, Reading, Target } from './targets.ts'
import type { Call, Progress } from './verb.ts'

/** Events that share a commit or a round trip. With a rate, one by one: none begins early. */
export const AT_ONCE = 100
/** Time limit for an outage of the inbox. */
const MAX_OUTAGE_MS = 600_000
/** An event that fails may wait for hours before its last attempt. */
const MAX_FOLLOWED_MS = 24 * 3_600_000
/** Time without any change after which somebody who waits is told so. */
const STALLED_MS = 20_000
const FIRST_LOOK_MS = 50
const LAST_LOOK_MS = { patient: 30_000, impatient: 2000 } as const
const MAX_WAIT_MS = 30_000

/** How events are changed. */
export interface Change {
  readonly read: Read
  /** Changes events, and returns the keys of those that were. */
  readonly apply: (keys: readonly string[]) => Promise<readonly string[]>
  /** Says why an event was not changed. */
  readonly reasonOf: (target: Target) => Words | Promise<Words>
  /** Returns which events are as they were, after a call whose reply was lost. Absent: the call can be repeated. */
  readonly unchanged?: (targets: readonly Target[]) => Promise<readonly Target[]>
  /** What is told of each changed event. */
  readonly kind?: 'redriven' | 'discarded'
  /** Expected number of events. */
  readonly total?: number | undefined
  /** Events per second. Absent: no limit. */
  readonly rate?: number | undefined
  /** Follows the changed events. Absent: they have no later end. */
  readonly follower?: Follower | undefined
}

/**
 * Changes events step by step, then follows those redriven. For a patient caller it waits while the inbox fails, and follows
 * each event to its end; for another one it rejects with the inbox's error, and follows until each event is handled or has
 * failed once, or nothing more can be expected.
 */
export class ChangeRun implements Progress {
  readonly #call: Call<unknown>
  readonly #change: Change
  readonly #pace: Pace
  readonly refusals: Refusals = new Refusals()
  #state: Progress['state'] = 'changing'
  #begun = 0
  #changed = 0
  #error: string | undefined
  #hasGivenUp = false
  #why: Words | undefined

  constructor(call: Call<unknown>, change: Change) {
    this.#call = call
    this.#change = change
    this.#pace = new Pace(change.rate, call.signal)
  }

  get state(): Progress['state'] {
    return this.#state
  }

  get total(): number | undefined {
    return this.#change.total
  }

  get changed(): number {
    return this.#changed
  }

  get missed(): number {
    return this.refusals.count
  }

  get error(): string | undefined {
    return this.#error
  }

  get fates(): Fates | undefined {
    return this.#change.follower?.outcome
  }

  /** Why some events were not followed to the end. */
  get why(): Words | undefined {
    return this.#why
  }

  /** It ended before all events were changed. */
  get isCut(): boolean {
    return this.#hasEnded && this.#state === 'changing'
  }

  /** Resolves once all is done, or it was ended. Rejects if its first events cannot be read. */
  async run(): Promise<void> {
    for (let reading: Reading | undefined = await this.#change.read(undefined); reading !== undefined; ) {
      this.#call.progress(this)
      const { found, next }: Reading = reading
      const step = this.#change.rate === undefined ? AT_ONCE : 1
      for (let at = 0; at < found.length && !this.#hasEnded; at += step) {
        await this.#pace.reach(this.#begun++)
        if (!this.#hasEnded) await this.#changeSome(found.slice(at, at + step))
      }
      if (next === undefined || this.#hasEnded) break
      reading = await this.#patiently(() => this.#inTime(this.#change.read(next)))
    }
    if (this.#change.follower !== undefined && this.#changed > 0 && !this.#hasEnded)
      await this.#follow(this.#change.follower)
  }

  async #changeSome(some: readonly Found[]): Promise<void> {
    let left = some.flatMap(one => ('target' in one ? one.target : []))
    const missed: Target[] = []
    let isDoubtful = false
    await this.#patiently(async () => {
      if (isDoubtful && this.#change.unchanged !== undefined) {
        // The call that failed may have changed some of them.
        const same = new Set(await this.#change.unchanged(left))
        this.#count(left.filter(target => !same.has(target)))
        left = left.filter(target => same.has(target))
      }
      isDoubtful = true
      if (left.length === 0) return
      const keys = new Set(await this.#inTime(this.#change.apply(left.map(({ key }) => key))))
      this.#count(left.filter(({ key }) => keys.has(key)))
      missed.push(...left.filter(({ key }) => !keys.has(key)))
      left = []
    })
    const reasons = await inLanes(missed, target =>
      this.#patiently(async () => this.#change.reasonOf(target)),
    )
    for (const [i, { id }] of missed.entries()) this.refusals.add(id, reasons[i] ?? 'for an unknown reason')
    for (const one of some) if ('refusal' in one) this.refusals.add(one.id, one.refusal)
    this.#call.progress(this)
  }

  #count(changed: readonly Target[]): void {
    this.#changed += changed.length
    this.#observe(changed)
    this.#change.follower?.add(changed)
  }

  #observe(targets: readonly Target[]): void {
    const { kind } = this.#change
    if (kind === undefined) return
    const { name, observe } = this.#call.caller
    for (const { id, type = '', namespace } of targets)
      observe({ kind, id, type, namespace, ...(name !== undefined && { by: name }) })
  }

  async #follow(follower: Follower): Promise<void> {
    const { signal, caller } = this.#call
    this.#state = 'following'
    const begun = Date.now()
    let [ended, changedAt] = [0, begun]
    while (!this.#hasEnded) {
      const lookedAt = Date.now()
      await this.#patiently(() => untilAborted(follower.look(signal), signal))
      this.#call.progress(this)
      if (follower.open === 0) return
      const now = Date.now()
      if (caller.isPatient) {
        if (now - begun > MAX_FOLLOWED_MS) return
      } else {
        const { waiting } = follower.outcome
        if (waiting === 0) return
        if (this.#changed - waiting > ended) [ended, changedAt] = [this.#changed - waiting, now]
        this.#why = await this.#reasonToEnd(now - changedAt)
        if (this.#why !== undefined) return
      }
      // At most a fifth of the time is spent on looking, and less and less often.
      const most = LAST_LOOK_MS[caller.isPatient ? 'patient' : 'impatient']
      await this.#wait(Math.min(most, Math.max(FIRST_LOOK_MS, 4 * (now - lookedAt), (now - begun) / 20)))
    }
    this.#why = 'stopped before the end'
  }

  /** Says why waiting longer is pointless. */
  async #reasonToEnd(unchangedMs: number): Promise<Words | undefined> {
    if (this.#call.signal.aborted) return undefined
    const { inbox } = this.#call
    const { paused } = await inbox.stats()
    if (paused === true) return ['handling is paused: ', { verb: 'resume', args: { all: true } }]
    const processes = await inbox.processes?.()
    if (processes?.length === 0) return 'no process takes events from this inbox'
    return unchangedMs > STALLED_MS ? `nothing changed for ${STALLED_MS / 1000} s` : undefined
  }

  get #hasEnded(): boolean {
    return this.#call.signal.aborted || this.#hasGivenUp
  }

  /** Repeats `work` while the inbox fails, if the caller is patient. Resolves with `undefined` once it has ended. */
  async #patiently<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (!this.#call.caller.isPatient) return work()
    const begun = Date.now()
    for (let waitMs = 1000; !this.#hasEnded; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
      try {
        const result = await work()
        this.#error = undefined
        return result
      } catch (cause) {
        this.#error = `The inbox failed: ${cause instanceof Error ? cause.message : String(cause)}`
        this.#hasGivenUp = cause instanceof Refused || Date.now() - begun > MAX_OUTAGE_MS
        this.#call.progress(this)
        if (!this.#hasEnded) await this.#wait(waitMs)
      }
    }
    return undefined
  }

  #inTime<T>(call: Promise<T>): Promise<T> {
    return this.#call.caller.isPatient ? inTime(call) : call
  }

  /** A process that waits for others' sake may end. */
  #wait(ms: number): Promise<void> {
    return wait(ms, this.#call.signal, this.#call.caller.isPatient)
  }
}

import type { Inbox } from '@ackhook/core'
import type { Outcome, OutcomeError } from '../protocol/outcome.ts'
import { inLanes } from './in-lanes.ts'
import { locate } from './locate.ts'

/** A letter that was redriven. */
export interface Redriven {
  readonly key: string
  /** Group of its last error before. Absent: unknown. */
  readonly group?: string | undefined
}

interface Open {
  readonly before: string | undefined
  /** Group of its error since, if it waits for another attempt. */
  failed?: string | undefined
  isRetrying?: boolean
}

const AT_ONCE = 100
const MAX_ERRORS = 10

/** Follows redriven events until each is handled or a dead letter again. Keeps the keys of the others only. */
export class Follower {
  readonly #inbox: Inbox
  readonly #open = new Map<string, Open>()
  /** Settled events, by error. */
  readonly #dead = new Map<string, number>()
  readonly #reasons = new Map<string, string>()
  readonly #settled = { handled: 0, failed: 0, sameFailed: 0, gone: 0, unknown: 0 }
  readonly #redact: Redact

  /** `redact` returns the text to show for an event's error. */
  constructor(inbox: Inbox, redact: Redact = reason => reason) {
    this.#inbox = inbox
    this.#redact = redact
  }

  /** Number of events that have not ended. */
  get open(): number {
    return this.#open.size
  }

  add(letters: Iterable<Redriven>): void {
    for (const { key, group } of letters) this.#open.set(key, { before: group })
  }

  /** Looks once at each event that has not ended. Rejects with the inbox's error. */
  async look(signal?: AbortSignal): Promise<void> {
    const keys = [...this.#open.keys()]
    for (let at = 0; at < keys.length && signal?.aborted !== true; at += AT_ONCE)
      await inLanes(keys.slice(at, at + AT_ONCE), key => this.#lookAt(key))
  }

  get outcome(): Outcome {
    const counts = new Map(this.#dead)
    let [retrying, sameRetrying] = [0, 0]
    for (const { isRetrying, failed, before } of this.#open.values()) {
      if (isRetrying !== true) continue
      retrying++
      if (failed === undefined) continue
      if (failed === before) sameRetrying++
      counts.set(failed, (counts.get(failed) ?? 0) + 1)
    }
    const errors = [...counts]
      .map(([group, count]): OutcomeError => ({ group, count, reason: this.#reasons.get(group) ?? '' }))
      .sort((a, b) => b.count - a.count)
      .slice(0, MAX_ERRORS)
    return { ...this.#settled, waiting: this.#open.size - retrying, retrying, sameRetrying, errors }
  }

  async #lookAt(key: string): Promise<void> {
    const { where, event } = await locate(this.#inbox, key)
    const open = this.#open.get(key)
    if (open === undefined) return
    const { state, group, isRetrying = false } = where
    if (group !== undefined && event !== undefined && !this.#reasons.has(group))
      this.#reasons.set(group, this.#redact(event.reason ?? '', event))
    if (state === 'pending' || state === 'active') {
      // An attempt that runs has no error yet: that of the attempt before it stands.
      if (isRetrying) Object.assign(open, { isRetrying, failed: group ?? open.failed })
      return
    }
    this.#open.delete(key)
    if (state === 'dead') {
      this.#settled.failed++
      if (group === open.before) this.#settled.sameFailed++
      this.#dead.set(group ?? '', (this.#dead.get(group ?? '') ?? 0) + 1)
    } else this.#settled[state === 'handled' ? 'handled' : state === 'unknown' ? 'unknown' : 'gone']++
  }
}

type Redact = (reason: string, event: { id: string; type: string; namespace: string }) => string

import type { Observation } from '@ackhook/core'
import type { TappedAttempt } from '@ackhook/testing/spi'

/** Observations of all processes of a run, by event id. */
export class Ledger {
  readonly violations: string[] = []
  readonly completed = new Map<string, number>()
  readonly dead = new Set<string>()
  /** Running attempts by ordering key, if processes share the order. */
  readonly runningByKey = new Map<string, string>()

  violate(what: string): void {
    this.violations.push(what)
  }
}

/** One process's obligations, from its observations: each attempt that began must end, and so must each event. */
export class Account {
  readonly #name: string
  readonly #ledger: Ledger
  readonly #keyOf: (id: string) => string | undefined
  readonly #runningByKey: Map<string, string>
  /** Attempts that have begun but not ended, as `id#number`. */
  readonly running = new Set<string>()
  /** Events acknowledged here that are not yet handled, dead or another process's. */
  readonly owed = new Set<string>()
  /** Number of times that an event has ended here. */
  readonly ends = new Map<string, number>()
  /** Dead letters that a drain counts as lost, because attempts were left and `onDeadLetter` failed. */
  lostDead = 0

  constructor(
    name: string,
    ledger: Ledger,
    { keyOf, sharesOrder }: { keyOf(id: string): string | undefined; readonly sharesOrder: boolean },
  ) {
    this.#name = name
    this.#ledger = ledger
    this.#keyOf = keyOf
    this.#runningByKey = sharesOrder ? ledger.runningByKey : new Map()
  }

  observe(observation: Observation): void {
    switch (observation.kind) {
      case 'accepted':
        if (observation.code === 'accepted') this.owed.add(observation.id)
        break
      case 'attempt_started':
        this.#begin(observation)
        break
      case 'completed':
        this.#end(observation, 'completed')
        this.#settle(observation.id)
        this.#ledger.completed.set(observation.id, (this.#ledger.completed.get(observation.id) ?? 0) + 1)
        break
      case 'attempt_failed':
      case 'attempt_withdrawn':
      case 'dead_lettered':
        this.#end(observation, observation.kind)
        if (observation.kind === 'dead_lettered') this.#ledger.dead.add(observation.id)
        break
      case 'lease_lost':
        this.#settle(observation.id)
    }
  }

  /** Records the end of an attempt: after `dead_lettered`, when the listeners have been called. */
  ended({ id, result }: Pick<TappedAttempt, 'id' | 'result'>): void {
    if (result.outcome !== 'dead') return
    if (this.#settle(id) && result.attemptsLeft === true && !result.notified) this.lostDead++
  }

  /** Records the end of an event, and returns whether it was owed. */
  #settle(id: string): boolean {
    this.ends.set(id, (this.ends.get(id) ?? 0) + 1)
    return this.owed.delete(id)
  }

  #begin({ id, attempt }: { readonly id: string; readonly attempt: number }): void {
    const one = `${id}#${attempt}`
    if (this.running.has(one)) this.#ledger.violate(`${this.#name}: ${one} began twice`)
    this.running.add(one)
    const key = this.#keyOf(id)
    if (key === undefined) return
    const other = this.#runningByKey.get(key)
    if (other !== undefined) this.#ledger.violate(`${this.#name}: ${one} began while ${other} of ${key} ran`)
    this.#runningByKey.set(key, one)
  }

  #end({ id, attempt }: { readonly id: string; readonly attempt: number }, how: string): void {
    const one = `${id}#${attempt}`
    if (!this.running.delete(one))
      this.#ledger.violate(`${this.#name}: ${one} ended (${how}) and had not begun`)
    const key = this.#keyOf(id)
    if (key !== undefined && this.#runningByKey.get(key) === one) this.#runningByKey.delete(key)
  }
}

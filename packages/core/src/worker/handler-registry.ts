import { AckhookError, ConfigurationError } from '../errors/errors.ts'
import { type EventHandler, KNOWN_TYPES } from '../events/event-types.ts'
import { covers, matchesAny, misspelled, requirePattern } from '../events/type-pattern.ts'
import { refuseGenerator } from '../lib/lazy-value.ts'
import type { FailureHandler } from './failure.ts'

/** The types that handlers are expected for. */
export interface ExpectedTypes {
  /** Published types, and those of the option `events`. */
  readonly known: readonly string[]
  /** Refuses patterns that match none of them. */
  readonly strict: boolean
}

/** A pattern that matches no known type. */
export interface UnknownPattern {
  readonly pattern: string
  /** What it probably misspells. */
  readonly meant: string | undefined
}

/** Handlers for unmatched events, failed attempts and dead letters. */
export interface Listeners {
  readonly onUnhandled: EventHandler[]
  readonly onError: FailureHandler[]
  readonly onDeadLetter: FailureHandler[]
}

/**
 * Registry of handlers by type. Filled by `on…`, frozen by `start`. Types are only ever keys of Maps: `constructor` and
 * `__proto__` are ordinary strings here.
 */
export class HandlerRegistry {
  readonly listeners: Listeners = { onUnhandled: [], onError: [], onDeadLetter: [] }
  readonly #exact = new Map<string, EventHandler[]>()
  readonly #byCategory = new Map<string, EventHandler[]>()
  readonly #always: EventHandler[] = []
  /** Cached results of {@link match}, for registered types only: the sender may invent any number of others. */
  readonly #matched = new Map<string, readonly EventHandler[]>()
  readonly #expected: ExpectedTypes
  #frozen = false

  constructor(expected: ExpectedTypes = { known: KNOWN_TYPES, strict: false }) {
    this.#expected = expected
  }

  add(pattern: string | readonly string[], handler: EventHandler<never>): void {
    const patterns: string[] = Array.isArray(pattern) ? [...new Set(pattern)] : [pattern]
    // Before the handler: on({ type: handler }) lacks both.
    for (const one of patterns) requirePattern('on', one)
    this.check(`on('${String(pattern)}')`, handler)
    if (patterns.length === 0) throw new ConfigurationError('on', 'an empty list of types would never match')
    if (this.#expected.strict) for (const one of patterns) this.#requireKnown(one)
    const lists = patterns.map(one => this.#listOf(one))
    lists.forEach((list, i) => {
      // One call runs its handler once per event, so the widest of its patterns stands for the others.
      if (!patterns.some(wider => wider !== patterns[i] && covers(wider, patterns[i] as string)))
        list.push(handler as EventHandler)
    })
  }

  addListener<Name extends keyof Listeners>(name: Name, handler: Listeners[Name][number]): void {
    this.check(name, handler)
    const list: Listeners[Name][number][] = this.listeners[name]
    list.push(handler)
  }

  /** Throws unless `handler` is a function and processing has not started. */
  check(what: string, handler: unknown): void {
    if (this.#frozen) {
      throw new AckhookError(
        'registry_frozen',
        `${what} was called after processing had started. Register every handler before start() and before the server listens.`,
      )
    }
    if (typeof handler !== 'function') throw new ConfigurationError(what, 'the handler must be a function')
    refuseGenerator(what, handler)
  }

  /** Returns whether this was the first call. */
  freeze(): boolean {
    const isFirst = !this.#frozen
    this.#frozen = true
    return isFirst
  }

  /** Returns the patterns passed to `on`. */
  patterns(): readonly string[] {
    const categories = [...this.#byCategory.keys()].map(name => `${name}.*`)
    return [...this.#exact.keys(), ...categories, ...(this.#always.length > 0 ? ['*'] : [])]
  }

  /** Returns the patterns passed to `on` that match no known type. */
  unknownPatterns(): readonly UnknownPattern[] {
    const { known } = this.#expected
    return this.patterns()
      .filter(pattern => !matchesAny(pattern, known))
      .map(pattern => ({ pattern, meant: misspelled(pattern, known) }))
  }

  /** Returns the handlers of the exact type, then of its category, then of `'*'`, each in order of registration. */
  match(type: string): readonly EventHandler[] {
    const known = this.#matched.get(type)
    if (known !== undefined) return known
    const dot = type.indexOf('.')
    const category = dot === -1 ? undefined : this.#byCategory.get(type.slice(0, dot))
    const handlers = [...(this.#exact.get(type) ?? []), ...(category ?? []), ...this.#always]
    if (this.#frozen && this.#exact.has(type)) this.#matched.set(type, handlers)
    return handlers
  }

  #requireKnown(pattern: unknown): void {
    const { known } = this.#expected
    requirePattern('on', pattern)
    if (matchesAny(pattern, known)) return
    const meant = misspelled(pattern, known)
    const guess = meant === undefined ? '' : `did you mean '${meant}'? Otherwise `
    throw new ConfigurationError(
      `on('${pattern}')`,
      `no known event has this type, and the receiver is strict: ${guess}add it to the option events, or leave strict out`,
    )
  }

  #listOf(pattern: string): EventHandler[] {
    if (pattern === '*') return this.#always
    const isCategory = pattern.endsWith('.*')
    const name = isCategory ? pattern.slice(0, -2) : pattern
    const map = isCategory ? this.#byCategory : this.#exact
    const list = map.get(name) ?? []
    map.set(name, list)
    return list
  }
}

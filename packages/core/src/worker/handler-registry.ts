import { AckhookError, ConfigurationError } from '../errors/errors.ts'
import type { EventHandler } from '../events/event-types.ts'
import { covers, requirePattern } from '../events/type-pattern.ts'
import type { FailureHandler } from './failure.ts'

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
  #frozen = false

  add(pattern: string | readonly string[], handler: EventHandler<never>): void {
    this.check(`on('${String(pattern)}')`, handler)
    const patterns: string[] = Array.isArray(pattern) ? [...new Set(pattern)] : [pattern]
    if (patterns.length === 0) throw new ConfigurationError('on', 'an empty list of types would never match')
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

  #listOf(pattern: unknown): EventHandler[] {
    requirePattern('on', pattern)
    if (pattern === '*') return this.#always
    const isCategory = pattern.endsWith('.*')
    const name = isCategory ? pattern.slice(0, -2) : pattern
    const map = isCategory ? this.#byCategory : this.#exact
    const list = map.get(name) ?? []
    map.set(name, list)
    return list
  }
}

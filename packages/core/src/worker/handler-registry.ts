import { AckhookError, ConfigurationError } from '../errors/errors.ts'
import type { EventHandler } from '../events/event-types.ts'
import type { FailureHandler } from './failure.ts'

/** What runs for an event that nobody matched, after a failed attempt, and when no attempt follows. */
export interface Listeners {
  readonly onUnhandled: EventHandler[]
  readonly onError: FailureHandler[]
  readonly onDeadLetter: FailureHandler[]
}

/** Which handlers run when. Filled by `on…`, frozen by `start`. */
export interface HandlerRegistry {
  readonly listeners: { readonly [Name in keyof Listeners]: readonly Listeners[Name][number][] }
  add(pattern: string | readonly string[], handler: EventHandler<never>): void
  addListener<Name extends keyof Listeners>(name: Name, handler: Listeners[Name][number]): void
  /** Throws unless `handler` is a function that still comes in time. */
  check(what: string, handler: unknown): void
  freeze(): void
  /** Handlers of the exact type, then of its category, then of `'*'`, each in order of registration. */
  match(type: string): readonly EventHandler[]
}

/** Types are keys of Maps and nothing else: `constructor` and `__proto__` are ordinary strings here. */
export function createHandlerRegistry(): HandlerRegistry {
  const exact = new Map<string, EventHandler[]>()
  const byCategory = new Map<string, EventHandler[]>()
  const always: EventHandler[] = []
  const matched = new Map<string, readonly EventHandler[]>()
  const listeners: Listeners = { onUnhandled: [], onError: [], onDeadLetter: [] }
  let frozen = false

  function check(what: string, handler: unknown): void {
    if (frozen) {
      throw new AckhookError(
        'registry_frozen',
        `${what} came after processing had started, and events may already have passed it by. Register every handler before start() and before the server listens.`,
      )
    }
    if (typeof handler !== 'function') throw new ConfigurationError(what, 'the handler must be a function')
  }

  function listFor(pattern: unknown): EventHandler[] {
    if (typeof pattern !== 'string' || pattern === '')
      throw new ConfigurationError('on', 'an event type must be a non-empty string')
    if (pattern === '*') return always
    const isCategory = pattern.endsWith('.*')
    const name = isCategory ? pattern.slice(0, -2) : pattern
    if (name === '' || name.includes('*') || (isCategory && name.includes('.'))) {
      throw new ConfigurationError(
        'on',
        `'${pattern}' is no pattern: use a type ('conversation.resolved'), a category ('conversation.*') or '*'`,
      )
    }
    const map = isCategory ? byCategory : exact
    const list = map.get(name) ?? []
    map.set(name, list)
    return list
  }

  return {
    listeners,
    check,
    add(pattern, handler) {
      check(`on('${String(pattern)}')`, handler)
      const patterns: string[] = Array.isArray(pattern) ? [...new Set(pattern)] : [pattern]
      if (patterns.length === 0)
        throw new ConfigurationError('on', 'an empty list of types would never match')
      const lists = patterns.map(listFor)
      lists.forEach((list, i) => {
        // One call runs its handler once for an event, so the widest of its patterns stands for the others.
        if (!patterns.some(wider => covers(wider, patterns[i] as string))) list.push(handler as EventHandler)
      })
    },
    addListener(name, handler) {
      check(name, handler)
      const list: Listeners[typeof name][number][] = listeners[name]
      list.push(handler)
    },
    freeze() {
      frozen = true
    },
    match(type) {
      const known = matched.get(type)
      if (known !== undefined) return known
      const dot = type.indexOf('.')
      const category = dot === -1 ? undefined : byCategory.get(type.slice(0, dot))
      const handlers = [...(exact.get(type) ?? []), ...(category ?? []), ...always]
      // Only types that somebody registered are remembered: the sender may invent any number of others.
      if (frozen && exact.has(type)) matched.set(type, handlers)
      return handlers
    },
  }
}

/** Whether every type of a pattern is one of another, wider one. */
function covers(wider: string, pattern: string): boolean {
  if (wider === pattern) return false
  return wider === '*' || (wider.endsWith('.*') && pattern.startsWith(wider.slice(0, -1)))
}

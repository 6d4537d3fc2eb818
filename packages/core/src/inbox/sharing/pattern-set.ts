import type { PublishedHandlers } from '../presence.ts'

/** Specificity with which a pattern matches a type: higher is more specific. */
export const RANK = { none: 0, onUnhandled: 1, all: 2, category: 3, exact: 4 } as const

/** Handler patterns of one or more processes, indexed by specificity. */
export class PatternSet {
  readonly #exact = new Set<string>()
  readonly #categories = new Set<string>()
  /** Specificity of a type that no other pattern matches. */
  #rest: number = RANK.none

  constructor(processes: readonly Pick<PublishedHandlers, 'patterns' | 'onUnhandled'>[]) {
    for (const { patterns, onUnhandled } of processes) {
      for (const pattern of patterns) {
        if (pattern === '*') this.#rest = RANK.all
        else if (pattern.endsWith('.*')) this.#categories.add(pattern.slice(0, -2))
        else this.#exact.add(pattern)
      }
      if (onUnhandled) this.#rest = Math.max(this.#rest, RANK.onUnhandled)
    }
  }

  /** Matches like `HandlerRegistry.match`, but returns only the specificity of the best match. */
  rankOf(type: string): number {
    if (this.#exact.has(type)) return RANK.exact
    const dot = type.indexOf('.')
    return dot !== -1 && this.#categories.has(type.slice(0, dot)) ? RANK.category : this.#rest
  }
}

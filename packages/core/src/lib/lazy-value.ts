import { ConfigurationError } from '../errors/errors.ts'
import { kindOf } from '../errors/kind-of.ts'
import { isPromise } from './maybe-promise.ts'

/**
 * Says what a function has returned if it is work that nobody begins, or that nobody waits for: `undefined` for any other
 * value. A promise must have been awaited before. Never throws.
 */
export function lazyKind(value: unknown): string | undefined {
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return undefined
  try {
    const { next, subscribe } = value as { readonly next?: unknown; readonly subscribe?: unknown }
    if (typeof subscribe === 'function') return 'an Observable'
    if (typeof next === 'function') return 'an iterator, as a generator does'
    return Array.isArray(value) && value.some(isPromise) ? 'a list of promises' : undefined
  } catch {
    return undefined
  }
}

/** What to write instead of returning such a value. */
export const NOT_LAZY =
  'call the function, loop over the iterator, await lastValueFrom(observable) or Promise.all(list)'

/** Throws if a function of the user's only returns a generator when it is called, so that nothing of it would run. */
export function refuseGenerator(option: string, given: unknown): void {
  if (typeof given !== 'function' || !kindOf(given).endsWith('GeneratorFunction')) return
  throw new ConfigurationError(
    option,
    'must not be a generator: a call would only create it and run nothing. Write function or async function, without *',
  )
}

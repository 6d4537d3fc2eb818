import { type DedupeStore, memoryStore, type Observation } from '@ackhook/core'
import { vi } from 'vitest'

/** Creates a promise that is settled from outside. */
export function deferred<T = void>() {
  let resolve: (value: T | PromiseLike<T>) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

/** Creates a store whose methods can be replaced one by one, and whose calls are counted. */
export function storeThat(overrides: Partial<DedupeStore> = {}) {
  const inner = memoryStore()
  const methods = { ...inner, ...overrides }
  return {
    inner,
    claim: vi.fn(methods.claim),
    extend: vi.fn(methods.extend),
    complete: vi.fn(methods.complete),
    release: vi.fn(methods.release),
    forget: vi.fn(methods.forget),
  }
}

/** Returns the observations of one kind. */
export function of<Kind extends Observation['kind']>(seen: readonly Observation[], kind: Kind) {
  return seen.filter((one): one is Extract<Observation, { kind: Kind }> => one.kind === kind)
}

/** Advances fake timers, and runs everything that becomes due. */
export async function advance(ms: number) {
  await vi.advanceTimersByTimeAsync(ms)
  await settle()
}

/** Runs everything that is due now: deferred work and promises, turn after turn, but no future timers. */
export async function settle() {
  for (let turn = 0; turn < 40; turn++) await vi.advanceTimersByTimeAsync(0)
}

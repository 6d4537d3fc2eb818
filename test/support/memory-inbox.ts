import { type DedupeStore, memoryStore, type Observation } from '@ackhook/core'
import { vi } from 'vitest'

/** A promise that is settled from outside. */
export function deferred<T = void>() {
  let resolve: (value: T | PromiseLike<T>) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

/** A store whose methods can be replaced one by one, and are counted. */
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

/** The observations of one kind. */
export function of<Kind extends Observation['kind']>(seen: readonly Observation[], kind: Kind) {
  return seen.filter((one): one is Extract<Observation, { kind: Kind }> => one.kind === kind)
}

/** Lets time pass under fake timers, and runs what became due in it. */
export async function advance(ms: number) {
  await vi.advanceTimersByTimeAsync(ms)
  await settle()
}

/** Runs what is due now: deferred work and promises, turn after turn, but no timer that lies ahead. */
export async function settle() {
  for (let turn = 0; turn < 40; turn++) await vi.advanceTimersByTimeAsync(0)
}

import type { DedupeStore } from '@ackhook/core'

/** A wrapper around a process's id store that behaves like a bad network. */
export interface FlakyStore extends DedupeStore {
  isFlaky: boolean
}

const SLOW_MS = 1500

/** Wraps a store to reply immediately, late, too late, with an error before or after the command, or not at all. */
export function flakyStore(store: DedupeStore, random: () => number): FlakyStore {
  const flaky =
    <Args extends unknown[], Answer>(call: (...given: Args) => Answer) =>
    (...given: Args): Answer => {
      const dice = outer.isFlaky ? random() : 0
      if (dice < 0.6) return call(...given)
      return unreliable(dice, () => call(...given), random) as Answer
    }
  const outer: FlakyStore = {
    isFlaky: true,
    claim: flaky(store.claim),
    extend: flaky(store.extend),
    complete: flaky(store.complete),
    release: flaky(store.release),
    forget: flaky(store.forget),
  }
  return outer
}

async function unreliable(dice: number, call: () => unknown, random: () => number): Promise<unknown> {
  if (dice < 0.85) {
    await later(Math.floor(random() * 100))
    return call()
  }
  if (dice < 0.9) throw new Error('the store is gone')
  if (dice < 0.95) {
    await call()
    throw new Error("the store's reply is lost")
  }
  if (dice < 0.98) {
    await later(SLOW_MS)
    return call()
  }
  return new Promise(() => {})
}

function later(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

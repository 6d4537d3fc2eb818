import type { Storage } from '../storage/storage.ts'

const IDLE_MS = 1000
const BUSY_MS = 50

/** Forgets old ids in the background: a bite now and then, more often while there is more to forget. */
export function startPruning(storage: Storage): { stop(): void } {
  let timer = setTimeout(bite, IDLE_MS).unref()
  function bite(): void {
    timer = setTimeout(bite, storage.prune() ? BUSY_MS : IDLE_MS).unref()
  }
  return {
    stop() {
      clearTimeout(timer)
    },
  }
}

import type { DeadLetter } from '@ackhook/core'
import type { DeadLetterStore } from '@ackhook/core/spi'
import type { Batcher } from './engine/batcher.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1_000_000

/** The dead letters of the file. */
export function createDeadLetters(batcher: Batcher): DeadLetterStore {
  return {
    list: ({ limit } = {}) =>
      batcher.query({ kind: 'list', limit: wholeLimit(limit) }) as Promise<readonly DeadLetter[]>,
    get: key => batcher.query({ kind: 'get', key: String(key) }) as Promise<DeadLetter | undefined>,
    redrive: key => batcher.query({ kind: 'redrive', key: String(key) }) as Promise<boolean>,
    discard: key => batcher.query({ kind: 'discard', key: String(key) }) as Promise<boolean>,
  }
}

/** A limit that is not a number lists as many as no limit does. */
function wholeLimit(limit: number | undefined): number {
  const wanted = Number(limit ?? DEFAULT_LIMIT)
  return Number.isNaN(wanted) ? DEFAULT_LIMIT : Math.max(0, Math.min(Math.floor(wanted), MAX_LIMIT))
}

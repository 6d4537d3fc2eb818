import type { DeadLetter } from '@ackhook/core'
import type { DeadLetterStore } from '@ackhook/core/spi'
import type { Batcher } from './engine/batcher.ts'
import type { KeyRuns } from './key-runs.ts'
import { parseCursor, wholeLimit } from './pages.ts'

/** The dead letters of the file. */
export function createDeadLetters(batcher: Batcher, runs: KeyRuns): DeadLetterStore {
  return {
    async list({ limit, after, order } = {}) {
      const place = after === undefined ? {} : { after: parseCursor(after, 'dead') }
      const first = order === 'oldest' ? 'oldest' : 'newest'
      const query = { kind: 'list', limit: wholeLimit(limit), order: first, ...place } as const
      return (await batcher.query(query)) as readonly DeadLetter[]
    },
    get: key => batcher.query({ kind: 'get', key: String(key) }) as Promise<DeadLetter | undefined>,
    redrive: key =>
      runs.giveWayToRedrive(() => batcher.query({ kind: 'redrive', key: String(key) }) as Promise<boolean>),
    discard: key => batcher.query({ kind: 'discard', key: String(key) }) as Promise<boolean>,
  }
}

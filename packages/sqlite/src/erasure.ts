import type { Erasure } from '@ackhook/core/spi'
import type { Batcher } from './engine/batcher.ts'
import type { Turns } from './turns.ts'

/** Keys read at a time: deliveries wait for a piece. */
const PIECE_KEYS = 500

/** Scans the file by key, and deletes waiting events. */
export function createErasure(batcher: Batcher, turns: Turns): Erasure {
  return {
    async *scan() {
      for (let after = ''; ; ) {
        const query = { kind: 'keys', after, limit: PIECE_KEYS } as const
        const keys = (await turns.run(() => batcher.query(query))) as readonly string[]
        const last = keys.at(-1)
        if (last === undefined) return
        yield keys
        after = last
      }
    },
    eraseWaiting: key =>
      turns.run(() => batcher.query({ kind: 'erase', key: String(key) })) as Promise<boolean>,
  }
}

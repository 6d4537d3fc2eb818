import type { DeadLetter } from '@ackhook/core'
import type { DeadLetterStore } from '@ackhook/core/spi'
import type { Batcher } from './engine/batcher.ts'
import type { KeyRuns } from './key-runs.ts'
import { parseCursor, wholeLimit } from './pages.ts'
import type { ListRequest, Query } from './protocol/batch.ts'
import type { Turns } from './turns.ts'

/** Limit for the total size of one page's bodies. */
const PAGE_BYTES = 4 * 1024 * 1024
/** Size of one piece of a page: deliveries wait for a piece, not for a page. */
const PIECE_BYTES = 256 * 1024
const PIECE_ROWS = 100

export interface DeadLetterParts {
  readonly batcher: Batcher
  readonly runs: KeyRuns
  readonly turns: Turns
}

/** Creates the store of the file's dead letters. */
export function createDeadLetters({ batcher, runs, turns }: DeadLetterParts): DeadLetterStore {
  const ask = (query: Query): Promise<unknown> => turns.run(() => batcher.query(query))
  const redrive = (query: Query): Promise<unknown> =>
    turns.run(() => runs.giveWayToRedrive(() => batcher.query(query)))
  return {
    async list({ limit, after, order } = {}) {
      const place = after === undefined ? {} : { after: parseCursor(after, 'dead') }
      const first = order === 'oldest' ? 'oldest' : 'newest'
      return readPage(wholeLimit(limit), { order: first, ...place }, ask)
    },
    get: key => ask({ kind: 'get', key: String(key) }) as Promise<DeadLetter | undefined>,
    redrive: key => redrive({ kind: 'redrive', key: String(key) }) as Promise<boolean>,
    discard: key => ask({ kind: 'discard', key: String(key) }) as Promise<boolean>,
    redriveMany: keys => redrive({ kind: 'redrive-many', keys: keys.map(String) }) as Promise<string[]>,
    discardMany: keys => ask({ kind: 'discard-many', keys: keys.map(String) }) as Promise<string[]>,
  }
}

/** Ends a page before its bodies exceed {@link PAGE_BYTES}, but returns at least one letter if any is left. */
async function readPage(
  limit: number,
  start: Pick<ListRequest, 'order' | 'after'>,
  ask: (query: Query) => Promise<unknown>,
): Promise<readonly DeadLetter[]> {
  const letters: DeadLetter[] = []
  let place = start
  let left = PAGE_BYTES
  while (letters.length < limit) {
    const piece = (await ask({
      kind: 'list',
      ...place,
      limit: Math.min(PIECE_ROWS, limit - letters.length),
      bytes: Math.min(PIECE_BYTES, left),
      maxBytes: letters.length === 0 ? Number.MAX_SAFE_INTEGER : left,
    })) as readonly DeadLetter[]
    const last = piece.at(-1)
    if (last === undefined) break
    letters.push(...piece)
    left -= piece.reduce((sum, { body }) => sum + body.length, 0)
    place = { order: start.order, after: parseCursor(last.cursor, 'dead') }
  }
  return letters
}

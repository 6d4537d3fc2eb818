import { ConfigurationError } from '@ackhook/core'
import type { BrowsedEvent, BrowseQuery, BrowseSupport } from '@ackhook/core/spi'
import type { Batcher } from './engine/batcher.ts'
import type { Position } from './protocol/batch.ts'
import type { Turns } from './turns.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1_000_000
/** Size of one piece of a page: deliveries wait for a piece, not for a page. */
const PIECE_ROWS = 500

/** States and filters that use an index. */
export const BROWSING: BrowseSupport = { states: ['pending', 'active', 'dead'], filters: [] }

/** Reads one page of the events in a state. */
export async function browse(
  batcher: Batcher,
  turns: Turns,
  { state, key, after, limit }: BrowseQuery,
): Promise<readonly BrowsedEvent[]> {
  const wanted = wholeLimit(limit)
  const events: BrowsedEvent[] = []
  for (let place = after; events.length < wanted; ) {
    const rows = Math.min(PIECE_ROWS, wanted - events.length)
    const query = {
      kind: 'browse',
      state,
      limit: rows,
      ...(key !== undefined && { key: String(key) }),
      ...(place !== undefined && { after: parseCursor(place, state) }),
    } as const
    const piece = (await turns.run(() => batcher.query(query))) as readonly BrowsedEvent[]
    events.push(...piece)
    if (key !== undefined || piece.length < rows) break
    place = piece.at(-1)?.cursor
  }
  return events
}

/** Parses the cursor at the end of a page. A dead letter's cursor includes its time of death. */
export function parseCursor(cursor: string, state: BrowseQuery['state']): Position {
  const [, failedAt, seq] = (state === 'dead' ? DEAD_CURSOR : CURSOR).exec(cursor) ?? []
  if (seq !== undefined) return { seq: Number(seq), failedAt: Number(failedAt) }
  throw new ConfigurationError('after', `must be the cursor of the last item of a page; got '${cursor}'`)
}

const CURSOR = /^()(\d{1,15})$/
const DEAD_CURSOR = /^(-?\d{1,16}):(\d{1,15})$/

/** Bounds a limit; uses the default if it is not a number. */
export function wholeLimit(limit: number | undefined): number {
  const wanted = Number(limit ?? DEFAULT_LIMIT)
  return Number.isNaN(wanted) ? DEFAULT_LIMIT : Math.max(0, Math.min(Math.floor(wanted), MAX_LIMIT))
}

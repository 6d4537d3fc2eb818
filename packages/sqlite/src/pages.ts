import { ConfigurationError } from '@ackhook/core'
import type { BrowsedEvent, BrowseQuery, BrowseSupport } from '@ackhook/core/spi'
import type { Batcher } from './engine/batcher.ts'
import type { Position } from './protocol/batch.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1_000_000

/** What an index finds. */
export const BROWSING: BrowseSupport = { states: ['pending', 'active', 'dead'], filters: [] }

/** One page of the events in a state. */
export async function browse(
  batcher: Batcher,
  { state, key, after, limit }: BrowseQuery,
): Promise<readonly BrowsedEvent[]> {
  const found = await batcher.query({
    kind: 'browse',
    state,
    limit: wholeLimit(limit),
    ...(key !== undefined && { key: String(key) }),
    ...(after !== undefined && { after: parseCursor(after, state) }),
  })
  return found as readonly BrowsedEvent[]
}

/** Where a page ended, by its cursor: that of a dead letter names when it died too. */
export function parseCursor(cursor: string, state: BrowseQuery['state']): Position {
  const [, failedAt, seq] = (state === 'dead' ? DEAD_CURSOR : CURSOR).exec(cursor) ?? []
  if (seq !== undefined) return { seq: Number(seq), failedAt: Number(failedAt) }
  throw new ConfigurationError('after', `must be the cursor of the last item of a page; got '${cursor}'`)
}

const CURSOR = /^()(\d{1,15})$/
const DEAD_CURSOR = /^(-?\d{1,15}):(\d{1,15})$/

/** A limit that is not a number lists as many as no limit does. */
export function wholeLimit(limit: number | undefined): number {
  const wanted = Number(limit ?? DEFAULT_LIMIT)
  return Number.isNaN(wanted) ? DEFAULT_LIMIT : Math.max(0, Math.min(Math.floor(wanted), MAX_LIMIT))
}

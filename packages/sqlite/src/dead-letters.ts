import type { DeadLetter, DeadLetterGroup, LetterGroups } from '@ackhook/core'
import { DEFAULT_GROUPS, type DeadLetterStore, largestFirst } from '@ackhook/core/spi'
import type { Batcher } from './engine/batcher.ts'
import type { KeyRuns } from './key-runs.ts'
import { parseCursor, wholeLimit } from './pages.ts'
import type { CountedPiece, GroupPosition, ListRequest, Query } from './protocol/batch.ts'
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
    async list({ limit, after, order, group } = {}) {
      const place = after === undefined ? {} : { after: parseCursor(after, 'dead') }
      const first = order === 'oldest' ? 'oldest' : 'newest'
      const of = group === undefined ? {} : { group: String(group) }
      return readPage(wholeLimit(limit), { order: first, ...place, ...of }, ask)
    },
    groups: ({ limit = DEFAULT_GROUPS } = {}) => countGroups(wholeLimit(limit), ask),
    get: key => ask({ kind: 'get', key: String(key) }) as Promise<DeadLetter | undefined>,
    redrive: key => redrive({ kind: 'redrive', key: String(key) }) as Promise<boolean>,
    discard: key => ask({ kind: 'discard', key: String(key) }) as Promise<boolean>,
    redriveMany: keys => redrive({ kind: 'redrive-many', keys: keys.map(String) }) as Promise<string[]>,
    discardMany: keys => ask({ kind: 'discard-many', keys: keys.map(String) }) as Promise<string[]>,
    now: () => ask({ kind: 'time' }) as Promise<number | undefined>,
    discardOlder: ({ failedBefore, limit }) =>
      ask({
        kind: 'discard-older',
        failedBefore: Math.floor(failedBefore),
        limit: wholeLimit(limit),
      }) as Promise<number>,
  }
}

/** Ends a page before its bodies exceed {@link PAGE_BYTES}, but returns at least one letter if any is left. */
async function readPage(
  limit: number,
  start: Pick<ListRequest, 'order' | 'after' | 'group'>,
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
    place = { ...start, after: parseCursor(last.cursor, 'dead') }
  }
  return letters
}

/** Counts the letters by the index, piece by piece. */
async function countGroups(limit: number, ask: (query: Query) => Promise<unknown>): Promise<LetterGroups> {
  const sums = new Map<string, CountedPiece['counts'][number]>()
  let counted = 0
  let after: GroupPosition | undefined
  do {
    const { counts, next } = (await ask({ kind: 'groups', after })) as CountedPiece
    for (const piece of counts) {
      const known = sums.get(piece.group)
      counted += piece.count
      // A group that fills several pieces is in order of time.
      const count = (known?.count ?? 0) + piece.count
      sums.set(piece.group, { ...piece, firstFailedAt: known?.firstFailedAt ?? piece.firstFailedAt, count })
    }
    after = next
  } while (after !== undefined)
  const largest = [...sums.values()].sort(largestFirst).slice(0, limit)
  const samples = await readSamples(
    largest.map(({ group }) => group),
    ask,
  )
  const groups = largest.flatMap(sum => {
    const sample = samples.get(sum.group)
    return sample === undefined ? [] : [{ ...sum, ...sample }]
  })
  return { groups, counted }
}

type Sampled = Pick<DeadLetterGroup, 'group' | 'type' | 'sample'>

async function readSamples(
  groups: readonly string[],
  ask: (query: Query) => Promise<unknown>,
): Promise<ReadonlyMap<string, Sampled>> {
  const samples = new Map<string, Sampled>()
  for (let at = 0; at < groups.length; at += PIECE_ROWS) {
    const query = { kind: 'samples', groups: groups.slice(at, at + PIECE_ROWS) } as const
    for (const one of (await ask(query)) as readonly Sampled[]) samples.set(one.group, one)
  }
  return samples
}

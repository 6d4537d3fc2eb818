import type { RedisConnectionClient } from 'bullmq'

/** Ids read at a time. */
const PIECE = 1000
/** In this order, an event that becomes due, is taken, or dies moves on to a list that is read later. */
const PLACES = [
  ['delayed', 'set'],
  ['prioritized', 'set'],
  ['wait', 'list'],
  ['paused', 'list'],
  ['active', 'list'],
  ['failed', 'set'],
] as const

/** Yields the ids of a queue's unfinished jobs, each once. */
export async function* scanJobs(
  client: RedisConnectionClient,
  keyOf: (name: string) => string,
): AsyncIterable<readonly string[]> {
  const known = new Set<string>()
  for (const [name, kind] of PLACES) {
    const ids = kind === 'set' ? ofSet(client, keyOf(name)) : ofList(client, keyOf(name))
    for await (const piece of ids) {
      const found = piece.filter(id => !known.has(id))
      for (const id of found) known.add(id)
      if (found.length > 0) yield found
    }
  }
}

/** Redis returns every member that stays in the set meanwhile. */
async function* ofSet(client: RedisConnectionClient, key: string): AsyncIterable<readonly string[]> {
  let cursor = '0'
  do {
    const [next, found] = (await client['zscan'](key, cursor, 'COUNT', PIECE)) as [string, string[]]
    // Members and scores in turn.
    yield found.filter((_, i) => i % 2 === 0)
    cursor = String(next)
  } while (cursor !== '0')
}

/**
 * Reads the whole list before the first id is used. From its beginning, where jobs are added: what is added meanwhile moves
 * the others on, so that some are read twice, but none is missed.
 */
async function* ofList(client: RedisConnectionClient, key: string): AsyncIterable<readonly string[]> {
  const pieces: string[][] = []
  for (let start = 0; ; start += PIECE) {
    const ids: string[] = await client['lrange'](key, start, start + PIECE - 1)
    if (ids.length === 0) break
    pieces.push(ids)
  }
  yield* pieces
}

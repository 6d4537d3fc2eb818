import { inLanes } from '../letters/in-lanes.ts'
import { changeLetters as changeMany } from '../letters/letter-filter.ts'
import type { ResolvedDashboard } from '../options/options.ts'
import {
  ApiProblem,
  type ChangeReport,
  type ChangeRequest,
  type EventRow,
  type LetterFilter,
} from '../protocol/protocol.ts'
import { listEvents, MAX_SCANNED } from './list-events.ts'

export type Change = 'redrive' | 'discard'

const MAX_KEYS = 200
/** Letters that an inbox changes in one step. */
export const AT_ONCE = 100
const KIND = { redrive: 'redriven', discard: 'discarded' } as const

/** Redrives or discards the given letters, or one page of matching ones. Each observation names the caller. */
export async function changeLetters(
  parts: ResolvedDashboard,
  change: Change,
  request: ChangeRequest,
  by: string | undefined,
): Promise<ChangeReport> {
  if ('keys' in request) {
    const changes = await inLanes(request.keys, async key => {
      const letter = await parts.inbox.deadLetters.get(key)
      return letter !== undefined && changeOne(parts, change, letter, by)
    })
    return reportOf(
      request.keys.filter((_, i) => changes[i]),
      request.keys.length,
    )
  }
  const { matching, after, dryRun = false } = request
  const { failedBy = Number.POSITIVE_INFINITY, ...filter } = matching
  const { events, next } = await listEvents(parts, {
    ...filter,
    state: 'dead',
    after,
    limit: dryRun ? MAX_SCANNED : MAX_KEYS,
  })
  const due = events.filter(({ failedAt = 0 }) => failedAt <= failedBy)
  const report = dryRun ? { changed: due.length, missed: 0 } : await changePage(parts, change, due, by)
  return { ...report, ...(next !== undefined && { next }) }
}

/** Changes a page in a few steps, and emits an observation for each letter. */
async function changePage(
  parts: ResolvedDashboard,
  change: Change,
  letters: readonly EventRow[],
  by: string | undefined,
): Promise<ChangeReport> {
  const changed: string[] = []
  for (let at = 0; at < letters.length; at += AT_ONCE) {
    const some = letters.slice(at, at + AT_ONCE)
    const keys = await changeMany(
      parts.inbox.deadLetters,
      change,
      some.map(({ key }) => key),
    )
    observeChange(parts, change, some, keys, by)
    changed.push(...keys)
  }
  return reportOf(changed, letters.length)
}

/** Emits an observation for each of these letters that was changed. */
export function observeChange(
  { observe }: ResolvedDashboard,
  change: Change,
  letters: readonly Pick<EventRow, 'key' | 'id' | 'type' | 'namespace'>[],
  changed: readonly string[],
  by: string | undefined,
): void {
  const keys = new Set(changed)
  for (const { key, id, type, namespace } of letters)
    if (keys.has(key)) observe({ kind: KIND[change], id, type, namespace, ...(by !== undefined && { by }) })
}

function reportOf(keys: readonly string[], asked: number): ChangeReport {
  return { changed: keys.length, missed: asked - keys.length, keys }
}

/** Validates a list of keys. Throws a 400 that names the mistake. */
export function parseKeys(keys: unknown, most: number = MAX_KEYS): readonly string[] {
  if (Array.isArray(keys) && keys.length <= most && keys.every(key => typeof key === 'string')) return keys
  throw new ApiProblem(400, 'invalid', `'keys' must be a list of at most ${most} keys.`)
}

/** Validates the body of a request. Throws a 400 that names the mistake. */
export function parseChange(body: unknown): ChangeRequest {
  const { keys, matching, after, dryRun } = Object(body) as Partial<Record<string, unknown>>
  if (keys !== undefined) return { keys: parseKeys(keys) }
  return {
    matching: parseFilter(matching),
    ...(typeof after === 'string' && { after }),
    ...(typeof dryRun === 'boolean' && { dryRun }),
  }
}

/** Validates a filter. Throws a 400 that names the mistake. */
export function parseFilter(matching: unknown): LetterFilter {
  if (typeof matching !== 'object' || matching === null) {
    throw new ApiProblem(
      400,
      'invalid',
      "Give 'keys', or 'matching' with a filter ({} matches every letter).",
    )
  }
  for (const [name, value] of Object.entries(matching)) {
    const expected = FILTERS[name]
    if (expected === undefined || typeof value !== expected) {
      throw new ApiProblem(
        400,
        'invalid',
        `'matching.${name}' is not a filter: use ${Object.keys(FILTERS).join(', ')}.`,
      )
    }
  }
  return matching
}

const FILTERS: Readonly<Record<string, 'string' | 'number'>> = {
  type: 'string',
  error: 'string',
  reason: 'string',
  group: 'string',
  text: 'string',
  id: 'string',
  namespace: 'string',
  failedBy: 'number',
}

async function changeOne(
  parts: ResolvedDashboard,
  change: Change,
  letter: Pick<EventRow, 'key' | 'id' | 'type' | 'namespace'>,
  by: string | undefined,
): Promise<boolean> {
  const { key } = letter
  if (!(await parts.inbox.deadLetters[change](key))) return false
  observeChange(parts, change, [letter], [key], by)
  return true
}

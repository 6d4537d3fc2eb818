import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { locate } from '../letters/locate.ts'
import type { ResolvedDashboard } from '../options/options.ts'
import { ApiProblem, type EventRow, type Role } from '../protocol/protocol.ts'
import { createReports } from './activity-reports.ts'
import { Batches, parseBatch } from './batches.ts'
import { type Change, changeLetters, parseChange } from './change-letters.ts'
import { fieldsOf, parseFields } from './fields.ts'
import { find } from './find.ts'
import { changeHandling, parseHandling, readHandling } from './handling.ts'
import { readTimes } from './letter-times.ts'
import { groupLetters, type ListQuery, listEvents, MAX_LIMIT, toRow } from './list-events.ts'
import { readOverview } from './read-overview.ts'

/** The caller, from `authorize`. */
export interface Caller {
  readonly role: Role
  readonly name?: string
}

interface Env {
  readonly Bindings: { readonly caller: Caller }
}

const MAX_BYTES = 64 * 1024
/** Bytes of a request with 5,000 keys. */
const MAX_BATCH_BYTES = 512 * 1024
/** Pattern of an event's key. */
const KEY = ':key{[\\w-]{1,64}}'

/** The routes below `api/`, wherever the dashboard is mounted. */
export function createApi(parts: ResolvedDashboard): Hono<Env> {
  const api = new Hono<Env>({ getPath: request => pathInApi(new URL(request.url).pathname) ?? '/' })
  api.onError(cause => {
    if (cause instanceof ApiProblem) return cause.toReply()
    // The caller's cursor or pattern is wrong. Errors about any other option come from the inbox itself.
    if (
      (cause as { option?: unknown }).option === 'after' ||
      (cause as { option?: unknown }).option === 'type'
    )
      return new ApiProblem(400, 'invalid', cause.message).toReply()
    return new ApiProblem(503, 'inbox_unavailable', `The inbox failed: ${cause.message}`).toReply()
  })
  api.notFound(() => new ApiProblem(404, 'not_found', 'There is no such path.').toReply())
  api.get('/overview', async c => c.json(await readOverview(parts, c.env.caller.role)))
  const reports = createReports(parts)
  api.get('/activity', async c => c.json(await reports(c.req.query('window') ?? '1h')))
  api.get('/letters', async c => c.json(await listEvents(parts, queryOf(c, 'dead'))))
  api.get('/letters/groups', async c => c.json(await groupLetters(parts)))
  api.get('/letters/times', async c => c.json(await readTimes(parts)))
  api.get(`/letters/${KEY}`, async c => c.json(await letterOf(parts, c.req.param('key'))))
  api.get('/events', async c => c.json(await listEvents(parts, queryOf(c, stateOf(c)))))
  api.get(`/events/${KEY}`, async c => c.json((await locate(parts.inbox, c.req.param('key'))).where))
  api.get('/find', async c =>
    c.json(await find(parts, c.req.query('q') ?? '', c.req.query('namespace') ?? '')),
  )
  for (const change of ['redrive', 'discard'] as const) {
    api.post(`/letters/${change}`, bodyLimit({ maxSize: MAX_BYTES, onError: tooLarge }), c =>
      postChange(c, parts, change),
    )
  }
  api.post('/events/fields', bodyLimit({ maxSize: MAX_BYTES, onError: tooLarge }), async c =>
    c.json(await fieldsOf(parts, parseFields(await readJson(c)))),
  )
  addBatches(api, parts)
  api.get('/handling', async c => c.json(await readHandling(parts)))
  api.post('/handling', bodyLimit({ maxSize: MAX_BYTES, onError: tooLarge }), async c => {
    const { name } = requireAdmin(c)
    return c.json(await changeHandling(parts, parseHandling(await readJson(c)), name))
  })
  return api
}

/** Adds the routes of batches, which run in this process. */
function addBatches(api: Hono<Env>, parts: ResolvedDashboard): void {
  const batches = new Batches(parts)
  api.get('/batches', c => c.json(batches.list()))
  api.post('/batches', bodyLimit({ maxSize: MAX_BATCH_BYTES, onError: tooLarge }), async c => {
    const { name } = requireAdmin(c)
    return c.json(await batches.start(parseBatch(await readJson(c)), name))
  })
  api.post('/batches/left', bodyLimit({ maxSize: MAX_BATCH_BYTES, onError: tooLarge }), async c =>
    c.json(await batches.count(parseBatch(await readJson(c)))),
  )
  api.post(`/batches/${KEY}/stop`, c => {
    requireAdmin(c)
    const batch = batches.stop(c.req.param('key'))
    if (batch === undefined) throw new ApiProblem(404, 'not_found', 'There is no such batch in this process.')
    return c.json(batch)
  })
}

function requireAdmin(c: Context<Env>): Caller {
  const { caller } = c.env
  if (caller.role === 'admin') return caller
  throw new ApiProblem(403, 'read_only', 'This requires the admin role.')
}

/** Returns `/overview` for `/any/prefix/api/overview`; `undefined` for any path outside the API. */
export function pathInApi(pathname: string): string | undefined {
  return pathname.match(
    /\/api(\/(?:overview|activity|find|letters|events|batches|handling)(?:\/[^/]*)?(?:\/stop)?)$/,
  )?.[1]
}

async function postChange(c: Context<Env>, parts: ResolvedDashboard, change: Change): Promise<Response> {
  const { name } = requireAdmin(c)
  return c.json(await changeLetters(parts, change, parseChange(await readJson(c)), name))
}

async function readJson(c: Context<Env>): Promise<unknown> {
  try {
    return await c.req.json()
  } catch {
    throw new ApiProblem(400, 'invalid', 'The body must be JSON.')
  }
}

function queryOf(c: Context<Env>, state: ListQuery['state']): ListQuery {
  const { type, error, reason, group, text, id, namespace, failedBy, order, after, limit } = c.req.query()
  if (failedBy !== undefined && !/^\d{1,16}$/.test(failedBy))
    throw new ApiProblem(400, 'invalid', "'failedBy' must be a time in milliseconds since the epoch.")
  return {
    state,
    ...(type !== undefined && { type }),
    ...(error !== undefined && { error }),
    ...(reason !== undefined && { reason }),
    ...(group !== undefined && { group }),
    ...(text !== undefined && { text }),
    ...(id !== undefined && { id }),
    ...(namespace !== undefined && { namespace }),
    ...(failedBy !== undefined && { failedBy: Number(failedBy) }),
    ...(order === 'oldest' && { order }),
    ...(after !== undefined && { after }),
    ...(limit !== undefined && /^\d{1,4}$/.test(limit) && { limit: Math.min(Number(limit), MAX_LIMIT) }),
  }
}

function stateOf(c: Context<Env>): 'pending' | 'active' {
  const state = c.req.query('state')
  if (state === 'pending' || state === 'active') return state
  throw new ApiProblem(400, 'invalid', "'state' must be pending or active.")
}

async function letterOf(parts: ResolvedDashboard, key: string): Promise<EventRow> {
  const letter = await parts.inbox.deadLetters.get(key)
  if (letter === undefined) throw new ApiProblem(404, 'not_found', 'There is no such dead letter.')
  const { id, type, namespace } = letter
  const redacted = (text: string) => parts.redact(text, { id, type, namespace })
  const stack = parts.activity?.stackOf(letter)
  const row = toRow(letter, parts)
  return {
    ...row,
    ...(stack !== undefined && { stack: redacted(stack) }),
    ...(parts.bodies && row.sealed !== true && { body: redacted(new TextDecoder().decode(letter.body)) }),
  }
}

function tooLarge(): Response {
  return new ApiProblem(413, 'too_large', 'The body is too large.').toReply()
}

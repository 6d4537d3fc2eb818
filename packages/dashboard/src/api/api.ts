import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { type ListQuery, MAX_LIMIT } from '../letters/list-letters.ts'
import { locate } from '../letters/locate.ts'
import type { ResolvedDashboard } from '../options/options.ts'
import { ApiProblem, type EventRow } from '../protocol/protocol.ts'
import { type RefusalCode, Refused } from '../protocol/refused.ts'
import { createReports } from './activity-reports.ts'
import { Batches } from './batches.ts'
import { groupLetters, listRows, toRow } from './event-rows.ts'
import { fieldsOf, readFields } from './fields.ts'
import { find } from './find.ts'
import { readHandling } from './handling.ts'
import { readTimes } from './letter-times.ts'
import { readOverview } from './read-overview.ts'
import { doVerb, listVerbs, type Person, planVerb, READ_ONLY } from './verbs.ts'

interface Env {
  /** The caller, from `authorize`. */
  readonly Bindings: { readonly caller: Person }
}

const MAX_BYTES = 64 * 1024
/** Bytes of a request with 5,000 keys. */
const MAX_VERB_BYTES = 512 * 1024
/** Pattern of an event's key. */
const KEY = ':key{[\\w-]{1,64}}'

/** The routes below `api/`, wherever the dashboard is mounted. */
export function createApi(parts: ResolvedDashboard): Hono<Env> {
  const api = new Hono<Env>({ getPath: request => pathInApi(new URL(request.url).pathname) ?? '/' })
  api.onError(cause => {
    if (cause instanceof ApiProblem) return cause.toReply()
    if (cause instanceof Refused)
      return new ApiProblem(STATUS[cause.code], cause.code, cause.message).toReply()
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
  api.get('/letters', async c => c.json(await listRows(parts, queryOf(c, 'dead'))))
  api.get('/letters/groups', async c => c.json(await groupLetters(parts)))
  api.get('/letters/times', async c => c.json(await readTimes(parts)))
  api.get(`/letters/${KEY}`, async c => c.json(await letterOf(parts, c.req.param('key'))))
  api.get('/events', async c => c.json(await listRows(parts, queryOf(c, stateOf(c)))))
  api.get(`/events/${KEY}`, async c => c.json((await locate(parts.inbox, c.req.param('key'))).where))
  api.get('/find', async c =>
    c.json(await find(parts, c.req.query('q') ?? '', c.req.query('namespace') ?? '')),
  )
  api.post('/events/fields', bodyLimit({ maxSize: MAX_BYTES, onError: tooLarge }), async c =>
    c.json(await fieldsOf(parts, readFields(await readJson(c)))),
  )
  api.get('/handling', async c => c.json(await readHandling(parts)))
  addVerbs(api, parts)
  return api
}

const STATUS: Readonly<Record<RefusalCode, 400 | 404 | 409>> = {
  invalid: 400,
  unsupported: 400,
  not_found: 404,
  busy: 409,
}

/** Adds the routes of what an operator can do, and of what runs in this process. */
function addVerbs(api: Hono<Env>, parts: ResolvedDashboard): void {
  const batches = new Batches()
  const limit = bodyLimit({ maxSize: MAX_VERB_BYTES, onError: tooLarge })
  api.get('/verbs', c => c.json(listVerbs(parts, c.env.caller)))
  api.post('/verbs/:verb{[a-z]+}', limit, async c =>
    c.json(await doVerb(parts, batches, c.req.param('verb'), await readJson(c), c.env.caller)),
  )
  api.post('/verbs/:verb{[a-z]+}/plan', limit, async c =>
    c.json(await planVerb(parts, c.req.param('verb'), Object(await readJson(c)), c.env.caller)),
  )
  api.get('/batches', c => c.json(batches.list()))
  api.post(`/batches/${KEY}/stop`, c => {
    if (c.env.caller.role !== 'admin') throw READ_ONLY
    const batch = batches.stop(c.req.param('key'))
    if (batch === undefined) throw new ApiProblem(404, 'not_found', 'There is no such batch in this process.')
    return c.json(batch)
  })
}

/** Returns `/overview` for `/any/prefix/api/overview`; `undefined` for any path outside the API. */
export function pathInApi(pathname: string): string | undefined {
  return pathname.match(
    /\/api(\/(?:overview|activity|find|letters|events|verbs|batches|handling)(?:\/[^/]*)?(?:\/(?:stop|plan))?)$/,
  )?.[1]
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

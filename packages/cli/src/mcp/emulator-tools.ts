import {
  CONTENT_FILTERS,
  operationId,
  QUERIES,
  REQUESTS,
  ROUTES,
  type Route,
  type RouteName,
  type Schema,
} from '@ackhook/emulator/routes'
import type { Tool } from '@ackhook/mcp'
import { EmulatorClient } from '../emulator/client.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type McpFlags, shownBy } from './mcp-flags.ts'

/** Calls that return what the emulator holds. */
const READS: readonly RouteName[] = [
  'GET /health',
  'GET /settings',
  'GET /stats',
  'GET /faults',
  'GET /clock',
  'GET /deliveries',
  'GET /undelivered',
  'GET /deliveries/{id}',
  'GET /workspaces',
  'GET /workspaces/{workspace}/endpoint',
  'GET /messages',
  'GET /messages/{id}',
  'POST /wait',
]

/** Call whose whole reply is a body. */
const WITH_BODIES: readonly RouteName[] = ['GET /deliveries/{id}/request']

const SENDS = 'The app gets real requests, and its handlers run'
const GIVES_UP = 'Given-up deliveries are not sent again, unless someone replays them'
const COUNTED = 'Call it with dryRun first to count the matches'

/** Calls that change something, with what a person should know before allowing one. */
const WRITES: Readonly<
  Partial<Record<RouteName, Pick<Tool, 'changes' | 'runsHandlers'> & { readonly effect: string }>>
> = {
  'POST /events': { effect: SENDS, changes: 'something', runsHandlers: true },
  'POST /deliveries/{id}/replay': { effect: SENDS, changes: 'something', runsHandlers: true },
  'POST /deliveries/{id}/retry': { effect: SENDS, changes: 'something', runsHandlers: true },
  'POST /deliveries/replay': { effect: `${SENDS}. ${COUNTED}`, changes: 'something', runsHandlers: true },
  'POST /deliveries/{id}/discard': { effect: GIVES_UP, changes: 'for good' },
  'POST /deliveries/discard': { effect: `${GIVES_UP}. ${COUNTED}`, changes: 'for good' },
  'PUT /faults': {
    effect: 'The faults hit every later attempt, until they are replaced by none',
    changes: 'for good',
  },
}

/** Bodies with an address of the caller's own. A tool sends only to the endpoints that the emulator has. */
const WITH_ADDRESS: readonly string[] = ['ReplayRequest', 'BulkRequest']

/** Creates a tool for each call of the emulator's API that the flags allow. */
export function emulatorTools(flags: McpFlags, terminal: Terminal): readonly Tool[] {
  const emulator = new EmulatorClient(flags.at, terminal)
  const reads = flags.bodies ? [...READS, ...WITH_BODIES] : READS
  const writes = flags.allowWrite ? Object.entries(WRITES) : []
  return [
    ...reads.map(name => toolOf(name, { description: ROUTES[name].summary, changes: 'nothing' })),
    ...writes.map(([name, { effect, ...change }]) => {
      const route = name as RouteName
      return toolOf(route, { description: `${ROUTES[route].summary}. ${effect}`, ...change })
    }),
  ]

  function toolOf(name: RouteName, about: Pick<Tool, 'description' | 'changes' | 'runsHandlers'>): Tool {
    const [method = '', path = ''] = name.split(' ')
    const route = ROUTES[name]
    const [, placeholder = ''] = /\{(\w+)\}/.exec(path) ?? []
    return {
      name: `emulator_${operationId(name)}`,
      ...about,
      inputSchema: withoutFields(inputOf(route, placeholder), flags.bodies ? [] : CONTENT_FILTERS),
      async run({ [placeholder]: part = '', ...input }) {
        const full = path.replace(/\{\w+\}/, encodeURIComponent(String(part)))
        const given = route.body === undefined ? { query: input } : { body: input }
        return shownBy(flags, (await emulator.call(method, full, given)) ?? { done: true })
      },
    }
  }
}

/** Joins a call's path, query and body into one object. Their fields have different names. */
function inputOf({ query, body }: Route, placeholder: string): Schema {
  const fields = query === undefined ? {} : QUERIES[query]
  const sent = body === undefined ? {} : (withoutRefs(REQUESTS[body]) as ObjectSchema)
  const { to, ...others } = sent.properties ?? {}
  const fromBody = to === undefined || WITH_ADDRESS.includes(body ?? '') ? others : { ...others, to }
  const inPath = placeholder === '' ? {} : { [placeholder]: { type: 'string', minLength: 1 } }
  return {
    type: 'object',
    properties: {
      ...inPath,
      ...Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
      ...fromBody,
    },
    required: [...Object.keys(inPath), ...(sent.required ?? [])],
    additionalProperties: false,
  }
}

/** Removes fields from a schema, also from those of nested objects. The server refuses what a schema lacks. */
function withoutFields(schema: Schema, names: readonly string[]): Schema {
  const { properties } = schema as ObjectSchema
  if (properties === undefined) return schema
  const kept = Object.entries(properties).filter(([name]) => !names.includes(name))
  return {
    ...schema,
    properties: Object.fromEntries(kept.map(([name, nested]) => [name, withoutFields(nested, names)])),
    additionalProperties: false,
  }
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/** Replaces references to the OpenAPI document, which a tool's schema cannot contain. */
function withoutRefs(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutRefs)
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref, ...others } = schema as { readonly $ref?: string }
  const own = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, withoutRefs(value)]))
  if ($ref === undefined) return own
  return { ...(withoutRefs(REQUESTS[$ref.slice($ref.lastIndexOf('/') + 1)]) as object), ...own }
}

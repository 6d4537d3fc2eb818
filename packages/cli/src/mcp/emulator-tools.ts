import {
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

/** Calls that change something, with what a person should know before allowing one. */
const WRITES: Readonly<Partial<Record<RouteName, string>>> = {
  'POST /events': SENDS,
  'POST /deliveries/{id}/replay': SENDS,
  'POST /deliveries/{id}/retry': SENDS,
  'POST /deliveries/replay': `${SENDS}. Call it with dryRun first to count the matches`,
  'POST /deliveries/{id}/discard': GIVES_UP,
  'POST /deliveries/discard': `${GIVES_UP}. Call it with dryRun first to count the matches`,
  'PUT /faults': 'The faults hit every later attempt, until they are replaced by none',
}

/** Creates a tool for each call of the emulator's API that the flags allow. */
export function emulatorTools(flags: McpFlags, terminal: Terminal): readonly Tool[] {
  const emulator = new EmulatorClient(flags.at, terminal)
  const reads = flags.bodies ? [...READS, ...WITH_BODIES] : READS
  const writes = flags.allowWrite ? Object.entries(WRITES) : []
  return [
    ...reads.map(name => toolOf(name, ROUTES[name].summary, 'nothing')),
    ...writes.map(([name, effect]) => {
      const route = name as RouteName
      const changes = effect.startsWith(GIVES_UP) ? 'for good' : 'something'
      return toolOf(route, `${ROUTES[route].summary}. ${effect}`, changes)
    }),
  ]

  function toolOf(name: RouteName, description: string, changes: Tool['changes']): Tool {
    const [method = '', path = ''] = name.split(' ')
    const route = ROUTES[name]
    const [, placeholder = ''] = /\{(\w+)\}/.exec(path) ?? []
    return {
      name: `emulator_${operationId(name)}`,
      description,
      inputSchema: inputOf(route, placeholder),
      changes,
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
  const inPath = placeholder === '' ? {} : { [placeholder]: { type: 'string', minLength: 1 } }
  return {
    type: 'object',
    properties: {
      ...inPath,
      ...Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
      ...sent.properties,
    },
    required: [...Object.keys(inPath), ...(sent.required ?? [])],
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

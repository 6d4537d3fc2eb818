import type { Duration } from '@ackhook/core'
import { printable } from '@ackhook/core/spi'
import type { EndpointChange, EndpointResult, EndpointView, WorkspaceView } from '@ackhook/emulator'
import { parseDuration, parseUrl } from '../command/shared-options.ts'
import { UsageError } from '../command/usage-error.ts'
import { findSecrets } from '../secrets/resolve-secrets.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint, table } from '../terminal/text.ts'
import { collect, type EndpointFlags, option, settingOption } from './options.ts'
import { type CallFlags, callVerb, type Typed, type Verb } from './verb.ts'

/** Source of a new secret. */
interface SecretsFileFlags {
  readonly secretsFile?: string
}

interface SetEndpointFlags extends EndpointFlags, SecretsFileFlags {
  readonly to?: string
  readonly category?: readonly string[]
  readonly allCategories?: boolean
  readonly type?: readonly string[]
  readonly allTypes?: boolean
}

interface RotateFlags extends EndpointFlags, SecretsFileFlags {
  readonly overlap?: Duration
}

const secretsFile = option(
  '--secrets-file <file>',
  'file that sets SIGNING_SECRET to the new secret, or - for standard input (default: a random one)',
)
const shown = (endpoint: EndpointView, { terminal }: Typed<CallFlags>) => describeEndpoint(endpoint, terminal)
const changed = (result: EndpointResult, { terminal }: Typed<CallFlags>) =>
  endpointResultLines(result, terminal)
const workspaceOf = ({ flags }: Typed<CallFlags>) => flags.workspace ?? 'default'

/** Verbs of `ackhook emulator` for endpoints, and for the workspaces that have them. */
export const ENDPOINT_VERBS: readonly Verb<never>[] = [
  callVerb<EndpointView>({
    name: 'endpoint',
    route: 'GET /workspaces/{workspace}/endpoint',
    description: 'Show the endpoint: address, subscribed events, and health with the reason',
    lines: shown,
  }),
  callVerb<EndpointResult, SetEndpointFlags>({
    name: 'endpoint set',
    route: 'PUT /workspaces/{workspace}/endpoint',
    description: 'Create the endpoint, or change its settings',
    options: [
      option('--to <url>', "the receiver's address", parseUrl),
      option('--category <name>', 'send only this category; may be repeated', collect),
      option('--all-categories', 'send every category'),
      option(
        '--type <type>',
        'within those categories, send only this type or pattern; may be repeated',
        collect,
      ),
      option('--all-types', 'send every type'),
      secretsFile,
    ],
    body: endpointChange,
    lines: changed,
  }),
  callVerb<EndpointView>({
    name: 'endpoint pause',
    route: 'POST /workspaces/{workspace}/endpoint/pause',
    description: 'Stop sending until the endpoint is resumed',
    lines: shown,
  }),
  callVerb<EndpointView>({
    name: 'endpoint resume',
    route: 'POST /workspaces/{workspace}/endpoint/resume',
    description: 'Resume sending',
    lines: shown,
  }),
  callVerb<EndpointResult, RotateFlags>({
    name: 'endpoint rotate-secret',
    route: 'POST /workspaces/{workspace}/endpoint/rotate-secret',
    description: 'Set a new secret; the old one also signs for a while',
    options: [settingOption('rotationOverlap', '--overlap <duration>', parseDuration), secretsFile],
    body: async ({ flags, terminal }) => ({
      secret: await secretIn(flags, terminal),
      overlap: flags.overlap,
    }),
    lines: changed,
  }),
  callVerb<undefined>({
    name: 'endpoint remove',
    route: 'DELETE /workspaces/{workspace}/endpoint',
    description: 'Remove the endpoint; pending deliveries become undelivered',
    question: typed => `Remove the endpoint of ${printable(workspaceOf(typed))}?`,
    lines: (_, typed) => [
      `The endpoint of ${printable(workspaceOf(typed))} is removed. Its pending deliveries are now undelivered.`,
    ],
    json: typed => ({ removed: workspaceOf(typed) }),
  }),
  callVerb<{ readonly workspaces: readonly WorkspaceView[] }>({
    name: 'workspaces',
    route: 'GET /workspaces',
    description: 'List the workspaces with their endpoints',
    lines: ({ workspaces }, { terminal }) => workspaceLines(workspaces, terminal),
  }),
  callVerb<WorkspaceView>({
    name: 'workspaces add',
    route: 'POST /workspaces',
    description: 'Create a workspace',
    args: [['<id>', 'up to 64 letters, digits, _ and -']],
    body: ({ args }) => ({ id: args[0] }),
    lines: ({ id }) => [
      `The workspace ${id} was created.`,
      `Set its endpoint: npx ackhook emulator endpoint set --workspace ${id} --to <url>`,
    ],
  }),
  callVerb<undefined>({
    name: 'workspaces remove',
    route: 'DELETE /workspaces/{workspace}',
    description: 'Remove a workspace with its endpoint; its deliveries stay in the log',
    args: [['<id>', 'workspace id']],
    question: ({ args }) => `Remove the workspace ${printable(args[0] ?? '')}?`,
    lines: (_, { args }) => [`The workspace ${printable(args[0] ?? '')} is removed.`],
    json: ({ args }) => ({ removed: args[0] }),
  }),
]

/** Returns the changes that the flags make to an endpoint. Throws if there are none. */
async function endpointChange({ flags, terminal }: Typed<SetEndpointFlags>): Promise<EndpointChange> {
  const change = {
    url: flags.to,
    secret: await secretIn(flags, terminal),
    categories: chosen('category', flags.category, flags.allCategories),
    types: chosen('type', flags.type, flags.allTypes),
  }
  if (Object.values(change).some(value => value !== undefined)) return change
  throw new UsageError(
    'give at least one change: --to, --category, --all-categories, --type, --all-types or --secrets-file',
  )
}

/** Returns the given names, or `null` for all. */
function chosen(
  name: string,
  some: readonly string[] | undefined,
  all: boolean | undefined,
): readonly string[] | null | undefined {
  if (some !== undefined && all)
    throw new UsageError(`--${name} names some, and the other option all: give one of them`)
  return all ? null : some
}

/** Reads the secret from `--secrets-file`. The secret in the environment is the current one, so it is ignored. */
async function secretIn({ secretsFile }: SecretsFileFlags, terminal: Terminal): Promise<string | undefined> {
  if (secretsFile === undefined) return undefined
  return (await findSecrets({ secretsFile }, terminal))[0]?.value
}

/** Formats an endpoint, with the reason for its health. */
function describeEndpoint(endpoint: EndpointView, { colors }: Terminal): readonly string[] {
  const { workspace, url, secret, previousSecretUntil, categories, types, paused, health } = endpoint
  const { good, warn } = createPaint(colors)
  const { status, reason, attempts, failures } = health
  const failed = attempts === 0 ? 'no attempts yet' : `${failures} of ${attempts} attempts failed`
  return table([
    ['workspace', workspace],
    ['address', printable(url)],
    ['state', paused ? warn('paused') : 'sending'],
    ['health', `${(reason === null ? good : warn)(status)}, ${reason === null ? failed : printable(reason)}`],
    ['categories', listed(categories)],
    ['types', listed(types)],
    ['secret', secret],
    ...(previousSecretUntil === null ? [] : [['previous', `also signs until ${previousSecretUntil}`]]),
  ])
}

function listed(names: readonly string[] | null): string {
  return names === null ? 'all' : printable(names.join(', ')) || 'none'
}

/** Formats a changed endpoint. A generated secret is shown only once, with how to use it. */
function endpointResultLines({ endpoint, secret }: EndpointResult, terminal: Terminal): readonly string[] {
  const lines = describeEndpoint(endpoint, terminal)
  if (secret === null) return lines
  const { bold } = createPaint(terminal.colors)
  return [
    ...lines,
    '',
    'Its secret is shown only once. Set it where your app runs:',
    `  ${bold(`export SIGNING_SECRET=${secret}`)}`,
  ]
}

/** Formats the workspaces with the address that each sends to. */
function workspaceLines(workspaces: readonly WorkspaceView[], { columns }: Terminal): readonly string[] {
  const rows = workspaces.map(({ id, endpoint }) =>
    endpoint === null
      ? [id, 'no endpoint']
      : [id, printable(endpoint.url), endpoint.paused ? 'paused' : endpoint.health.status],
  )
  return table(rows, columns)
}

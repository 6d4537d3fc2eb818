import { printable } from '@ackhook/core/spi'
import type { EndpointResult, EndpointView, WorkspaceView } from '@ackhook/emulator'
import { parseDuration, parseUrl } from '../../command/shared-options.ts'
import { type CallFlags, callVerb, type Typed } from '../lib/call-verb.ts'
import { collect } from '../lib/shared-options.ts'
import { option, type Verb } from '../lib/verb.ts'
import { describeEndpoint } from './describe-endpoint.ts'
import { endpointChange } from './endpoint-change.ts'
import type { RotateFlags, SetEndpointFlags } from './endpoint-flags.ts'
import { endpointResultLines } from './endpoint-result-lines.ts'
import { secretIn } from './secret-in.ts'
import { workspaceLines } from './workspace-lines.ts'

const secretsFile = option(
  '--secrets-file <file>',
  'file that sets SIGNING_SECRET to the new secret (default: a random one)',
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
    options: [
      option('--overlap <duration>', 'how long both sign (default: 24h, a guess)', parseDuration),
      secretsFile,
    ],
    body: ({ flags, terminal }) => ({ secret: secretIn(flags, terminal), overlap: flags.overlap }),
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

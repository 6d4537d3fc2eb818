import { parseDuration, parseUrl } from '../../command/shared-options.ts'
import type { EndpointFlags } from '../lib/emulator-flags.ts'
import { collect, withPlace, withWorkspace, withYes } from '../lib/shared-options.ts'
import { option, type Verb } from '../lib/verb.ts'
import { addWorkspace } from './add-workspace.ts'
import { listWorkspaces } from './list-workspaces.ts'
import { pauseEndpoint } from './pause-endpoint.ts'
import { removeEndpoint } from './remove-endpoint.ts'
import { removeWorkspace } from './remove-workspace.ts'
import { rotateSecret } from './rotate-secret.ts'
import { setEndpoint } from './set-endpoint.ts'
import { showEndpoint } from './show-endpoint.ts'

const secretsFile = option(
  '--secrets-file <file>',
  'the new secret is SIGNING_SECRET in this file (default: made up)',
)

/** What `ackhook emulator` does with endpoints, and with the workspaces that have them. */
export const ENDPOINT_VERBS: readonly Verb<never>[] = [
  {
    name: 'endpoint',
    description: 'Show where events are sent to, what is subscribed, and its health with the reason',
    options: [withWorkspace, withPlace],
    run: showEndpoint,
  },
  {
    name: 'endpoint set',
    description: 'Create it, or change what is named',
    options: [
      option('--to <url>', 'address of the receiver', parseUrl),
      option('--category <name>', 'send this category and no other; may be repeated', collect),
      option('--all-categories', 'send every category'),
      option('--type <type>', 'send this type and no other, of those categories; may be repeated', collect),
      option('--all-types', 'send every type'),
      secretsFile,
      withWorkspace,
      withPlace,
    ],
    run: setEndpoint,
  },
  {
    name: 'endpoint pause',
    description: 'Send nothing until it is resumed',
    options: [withWorkspace, withPlace],
    run: (_, flags: EndpointFlags, terminal) => pauseEndpoint('pause', flags, terminal),
  },
  {
    name: 'endpoint resume',
    description: 'Go on sending',
    options: [withWorkspace, withPlace],
    run: (_, flags: EndpointFlags, terminal) => pauseEndpoint('resume', flags, terminal),
  },
  {
    name: 'endpoint rotate-secret',
    description: 'Give it a new secret; the old one signs too for a while',
    options: [
      option('--overlap <duration>', 'how long both sign (default: 24h, a guess)', parseDuration),
      secretsFile,
      withWorkspace,
      withPlace,
    ],
    run: rotateSecret,
  },
  {
    name: 'endpoint remove',
    description: 'Remove it; what is pending becomes undelivered',
    options: [withYes, withWorkspace, withPlace],
    run: removeEndpoint,
  },
  {
    name: 'workspaces',
    description: 'List the workspaces with their endpoints',
    options: [withPlace],
    run: listWorkspaces,
  },
  {
    name: 'workspaces add',
    description: 'Create a workspace',
    args: [['<id>', 'up to 64 letters, digits, _ and -']],
    options: [withPlace],
    run: addWorkspace,
  },
  {
    name: 'workspaces remove',
    description: 'Remove a workspace with its endpoint; its deliveries stay in the log',
    args: [['<id>', 'workspace']],
    options: [withYes, withPlace],
    run: removeWorkspace,
  },
]

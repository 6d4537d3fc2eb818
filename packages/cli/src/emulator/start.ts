import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Duration } from '@ackhook/core'
import { isError, printable } from '@ackhook/core/spi'
import type { Emulator, EmulatorOptions, WorkspaceView } from '@ackhook/emulator'
import { EXIT } from '../command/exit-codes.ts'
import {
  contractOf,
  type InsecureFlags,
  parseCount,
  parseDuration,
  parsePath,
  parsePort,
  parseUrl,
  type SecretFlags,
  type SentContractFlags,
  withContract,
  withInsecure,
  withJson,
  withSecret,
  withSentUnit,
} from '../command/shared-options.ts'
import { UsageError } from '../command/usage-error.ts'
import { hintsFor } from '../delivery/hints-for.ts'
import { findSecrets, type NamedSecret } from '../secrets/resolve-secrets.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint, table } from '../terminal/text.ts'
import { DEFAULT_PORT, EmulatorClient } from './client.ts'
import { deliveryLine } from './deliveries.ts'
import { collect, collectFault, type FaultFlags, option, parseSeed, settingOption } from './options.ts'
import { setUp } from './set-up.ts'
import type { Verb } from './verb.ts'
import { type Watcher, watchDeliveries } from './watch-deliveries.ts'

interface StartFlags extends SecretFlags, SentContractFlags, InsecureFlags {
  readonly port: number
  readonly host?: string
  readonly to?: string
  readonly data?: string
  readonly setup?: string
  readonly seed?: number
  readonly allowTarget?: readonly string[]
  readonly allowHost?: readonly string[]
  readonly dashboard?: string
  readonly traceUrl?: string
  readonly httpsOnly?: boolean
  readonly attempts?: number
  readonly timeout?: Duration
  readonly minDelay?: Duration
  readonly maxDelay?: Duration
  readonly fault?: FaultFlags
  readonly quiet?: boolean
  readonly json?: boolean
}

const HELP = `No configuration is required. Without a secret in SIGNING_SECRET or --secrets-file, it generates one and prints it once.
Values that the platform has not published, such as its number of attempts, are guesses here and can be set.
--json prints one line when the emulator is ready, then one line for each attempt.

Examples:
  $ ackhook emulator start --to http://localhost:3000/webhooks
  $ ackhook emulator start --to http://localhost:3000/webhooks --data emulator.db --fault duplicate=0.1
  $ ackhook emulator start --setup emulator.json
  $ ackhook emulator start --host 0.0.0.0 --allow-host emulator --allow-target app --to http://app:3000/webhooks`

/** The one verb that needs no running emulator. */
export const START: Verb<never> = {
  name: 'start',
  description: 'Start the emulator, and show each delivery until Ctrl-C',
  options: [
    option('--to <url>', "the receiver's address", parseUrl),
    option('--port <n>', 'port to listen on; 0 picks a free one', parsePort, DEFAULT_PORT),
    option('--host <address>', 'address to listen on; any but loopback requires ACKHOOK_EMULATOR_TOKEN'),
    option('--allow-host <name>', 'another host name to accept, such as emulator in Compose', collect),
    option(
      '--allow-target <host>',
      'another host that deliveries may go to, such as app in Compose',
      collect,
    ),
    option('--dashboard <url>', "address of the receiver's dashboard, for its view of each event", parseUrl),
    option('--trace-url <url>', 'address of a trace, with {traceId}'),
    option('--https-only', 'refuse receivers without TLS, as the platform does'),
    option(
      '--data <file>',
      'keep the log and pending deliveries in this file (default: in memory)',
      parsePath,
    ),
    option('--setup <file>', 'set endpoints and faults from this JSON file', parsePath),
    settingOption('seed', '--seed <n>', parseSeed),
    settingOption('delivery.attempts', '--attempts <n>', parseCount),
    settingOption('delivery.timeout', '--timeout <duration>', parseDuration),
    settingOption('delivery.minDelay', '--min-delay <duration>', parseDuration),
    settingOption('delivery.maxDelay', '--max-delay <duration>', parseDuration),
    option('--fault <name=chance>', 'such as duplicate=0.1, lostReply=0.05 or delay=2s', collectFault),
    option('--quiet', 'do not show deliveries'),
    withSecret,
    withContract,
    withSentUnit,
    withInsecure,
    withJson,
  ],
  help: HELP,
  run: start,
}

/** Runs an emulator until Ctrl-C. */
async function start(_: readonly string[], flags: StartFlags, terminal: Terminal): Promise<number> {
  const [secret] = await findSecrets(flags, terminal)
  // Loaded on use: it has a server and a database driver, which no other command needs.
  const { startEmulator } = await import('@ackhook/emulator')
  const emulator = await startEmulator(optionsOf(flags, secret, terminal)).catch(async cause => {
    throw (await portTaken(cause, flags, terminal)) ?? toUsageError(cause, secret)
  })
  try {
    const { setup } = flags
    if (setup !== undefined)
      await setUp(emulator, resolve(terminal.cwd, setup), setup, secret?.value, terminal)
    await announce(emulator, flags, secret, terminal)
    if (!flags.quiet) void watchDeliveries(emulator.url, watcherOf(flags, terminal), terminal)
    if (!terminal.stop.aborted) await once(terminal.stop, 'abort')
  } finally {
    await emulator.close()
  }
  return EXIT.ok
}

function optionsOf(flags: StartFlags, secret: NamedSecret | undefined, terminal: Terminal): EmulatorOptions {
  const { port, host, to, data, seed, allowTarget, allowHost, httpsOnly, fault, dashboard, traceUrl } = flags
  const { attempts, timeout, minDelay, maxDelay, insecure } = flags
  const token = terminal.env['ACKHOOK_EMULATOR_TOKEN']
  const delivery = { attempts, timeout, minDelay, maxDelay, insecure, ...contractOf(flags) }
  return given({
    ...{ port, host, to, seed, httpsOnly, faults: fault, dashboard, traceUrl },
    token: token === '' ? undefined : token,
    data: data === undefined ? undefined : resolve(terminal.cwd, data),
    allowTargets: allowTarget,
    allowedHosts: allowHost,
    secret: secret?.value,
    delivery: given(delivery),
  })
}

/** Names the emulator that occupies the port: it would get the commands meant for this one. */
async function portTaken(
  cause: unknown,
  { port }: StartFlags,
  terminal: Terminal,
): Promise<UsageError | undefined> {
  if (!/^Option 'port': \d+ is in use/.test(String((cause as Error).message))) return undefined
  const owner = await portOwner(port, terminal)
  if (owner === undefined) return undefined
  const fix =
    'stop that one, or choose another port with --port and pass its address to the other commands with --at'
  return new UsageError(`port ${port} is in use by ${owner}: ${fix}`, { cause })
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function given<T extends object>(values: T): Given<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>
}

/** Replaces option names with flags. The driver must be installed beside `ackhook`, which `npx` keeps elsewhere. */
const FLAGS: readonly (readonly [RegExp, string])[] = [
  [/^Option 'data': (?=needs SQLite)(.* )(?=@photostructure)/, 'the emulator $1ackhook '],
  [/allowTargets/g, '--allow-target'],
  [/allowedHosts/g, '--allow-host'],
  [/\bhttpsOnly\b/g, '--https-only'],
  [/\btraceUrl\b/g, '--trace-url'],
  [/the option token\b/g, 'a token in ACKHOOK_EMULATOR_TOKEN'],
  [/minDelay/g, '--min-delay'],
  [/maxDelay/g, '--max-delay'],
  [/^Option 'faults\.(\w+)': /, '--fault $1: '],
  [/^Option '(?:delivery\.)?fields': /, '--field: '],
  [/^Option '(?:delivery\.)?(?:--)?([\w-]+)': /, '--$1: '],
]

function toUsageError(cause: unknown, secret: NamedSecret | undefined): unknown {
  if (!isError(cause) || !('code' in cause)) return cause
  const named = cause.message.replace(/^Option 'secret': /, `${secret?.source}: `)
  const message = FLAGS.reduce((text, [name, flag]) => text.replace(name, flag), named)
  return new UsageError(message, { cause })
}

async function announce(
  { url, api, secret: made }: Emulator,
  { to, port, json }: StartFlags,
  given: NamedSecret | undefined,
  { out, colors }: Terminal,
): Promise<void> {
  const health = `${url}/_emulator/v1/health`
  // A given secret is already stored at its source.
  const secret = given === undefined ? made : undefined
  if (json) {
    out(JSON.stringify({ ready: url, health, to: to ?? null, secret: secret ?? null }))
    return
  }
  const { bold, dim, warn } = createPaint(colors)
  const app = to ?? (await appOf(api))
  const rows = [
    ['  page', bold(url)],
    ['  API', `${url}/_emulator/v1`],
    ['  app', app ?? warn('none yet')],
    ...(secret !== undefined || (app === undefined && given === undefined)
      ? []
      : [['  secret', sourceOf(given, app === to)]]),
  ]
  out('The emulator is ready.')
  for (const line of table(rows)) out(line)
  out('')
  if (secret !== undefined) {
    out('Set the secret where your app runs, and start the app:')
    out(`  ${bold(`export SIGNING_SECRET=${secret}`)}`)
  }
  const next =
    app === undefined ? 'endpoint set --to http://localhost:3000/webhooks' : 'send conversation.resolved'
  out(app === undefined ? "In another terminal, set your app's address:" : 'Then, in another terminal:')
  out(`  ${bold(`npx ackhook emulator ${next}${port === DEFAULT_PORT ? '' : ` --at ${url}`}`)}`)
  out(dim('Press Ctrl-C to stop.'))
}

/** Returns the address of the first endpoint in a file. */
async function appOf({ workspaces }: Emulator['api']): Promise<string | undefined> {
  return (await workspaces.list()).flatMap(({ endpoint }) => endpoint ?? [])[0]?.url
}

/** Names the secret's source. A data file keeps its own secret unless --to is a new address. */
function sourceOf(given: NamedSecret | undefined, isNew: boolean): string {
  return given !== undefined && isNew ? `from ${given.source}` : 'kept in the data file'
}

function watcherOf({ json }: StartFlags, terminal: Terminal): Watcher {
  const { out, err, colors } = terminal
  const { good, warn, dim } = createPaint(colors)
  if (json) {
    return {
      delivery: delivery => out(JSON.stringify({ delivery })),
      health: (workspace, reason) => out(JSON.stringify({ health: { workspace, reason } })),
      gap: () => out(JSON.stringify({ gap: true })),
    }
  }
  const hinted = new Set<string>()
  return {
    delivery(delivery) {
      out(deliveryLine(delivery, terminal))
      if (delivery.lastError === null) return
      for (const hint of hintsFor([{ error: delivery.lastError }], 'emulator')) {
        // Once: each event is attempted many times.
        if (!hinted.has(hint)) err(`  ${hint}`)
        hinted.add(hint)
      }
    },
    health(workspace, reason) {
      if (reason === null) err(good(`The endpoint of ${workspace} is healthy again.`))
      else err(warn(`The endpoint of ${workspace} is not healthy: ${printable(reason)}`))
    },
    gap: () => err(dim('(more deliveries than can be shown)')),
  }
}

const TIMEOUT_MS = 2000

/** Describes the emulator that listens on a port of this machine, if there is one. */
async function portOwner(port: number, terminal: Terminal): Promise<string | undefined> {
  const stop = AbortSignal.any([terminal.stop, AbortSignal.timeout(TIMEOUT_MS)])
  const other = new EmulatorClient(`http://localhost:${port}`, { ...terminal, stop })
  try {
    const { workspaces } = await other.get<{ workspaces: readonly WorkspaceView[] }>('/workspaces')
    const [to] = workspaces.flatMap(({ endpoint }) => endpoint?.url ?? [])
    return `another emulator, ${to === undefined ? 'without an endpoint' : `sending to ${printable(to)}`}`
  } catch {
    return undefined
  }
}

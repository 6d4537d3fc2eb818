import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join, resolve } from 'node:path'
import type { Duration } from '@ackhook/core'
import { durationMs, isError } from '@ackhook/core/spi'
import { codeOf } from '@ackhook/testing/spi'
import { Command } from 'commander'
import { EXIT } from '../command/exit-codes.ts'
import type { Finish } from '../command/finish.ts'
import { openServer } from '../command/open-server.ts'
import {
  type InsecureFlags,
  parseCount,
  parseDuration,
  parsePath,
  parsePort,
  parseUrl,
  type SecretFlags,
  withContract,
  withInsecure,
  withJson,
  withSecret,
  withTolerance,
} from '../command/shared-options.ts'
import { DeliveryFolder } from '../delivery/delivery-file.ts'
import { hintsFor } from '../delivery/hints-for.ts'
import { findSecrets, type NamedSecret } from '../secrets/resolve-secrets.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint } from '../terminal/text.ts'
import {
  type Arrival,
  describeArrival,
  type ExamineFlags,
  examine,
  probeSecrets,
  type SavePlace,
} from './arrival.ts'
import { type ForwardedReply, forward, readRequest } from './exchange.ts'

interface ListenFlags extends SecretFlags, ExamineFlags, InsecureFlags {
  readonly port: number
  readonly host: string
  readonly forward?: string
  readonly count?: number
  /** Time limit for the reply to a forwarded delivery. */
  readonly timeout: Duration
  readonly json?: boolean
}

export function listenCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('listen')
    .description('Show each delivery that arrives: verified or not, and why')
    .option('--port <n>', 'port to listen on; 0 picks a free one', parsePort, 4000)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--forward <url>', "forward each delivery, byte for byte, and return your app's reply", parseUrl)
    .option('--timeout <duration>', "how long to wait for your app's reply", parseDuration, '30s' as Duration)
    .option(
      '--save <dir>',
      'save each delivery to a file for replay and verify: those that are not verified in <dir>/unverified',
      parsePath,
    )
    .option('--count <n>', 'end after this many deliveries', parseCount)
    .addHelpText('after', HELP)
    .action(async (flags: ListenFlags) => finish(await listen(flags, terminal)))
  return withJson(withInsecure(withTolerance(withContract(withSecret(command)))))
}

const HELP = `
Without a secret, every delivery is accepted, shown as not verified, and saved in <dir>/unverified. Press Ctrl-C to stop.
Exit code 0; with --count, 1 if a delivery did not verify.
--json prints a line with the address, then one line of JSON for each delivery.

Examples:
  $ ackhook listen --port 4000
  $ ackhook listen --forward http://localhost:3000/webhooks --save deliveries`

/** Listens until Ctrl-C, or until `--count` deliveries have arrived. */
async function listen(flags: ListenFlags, terminal: Terminal): Promise<number> {
  const secrets = await findSecrets(flags, terminal)
  await probeSecrets(secrets, flags)
  const listener = new Listener(secrets, flags, terminal)
  const server = createServer((request, response) => listener.handle(request, response))
  announce(await openServer(server, flags.host, flags.port), secrets, flags, terminal)
  await listener.ended()
  server.close()
  server.closeIdleConnections()
  return listener.exitCode()
}

/** Shows each delivery and replies to it. */
class Listener {
  readonly #secrets: readonly NamedSecret[]
  readonly #flags: ListenFlags
  readonly #terminal: Terminal
  readonly #timeoutMs: number
  readonly #place: SavePlace | undefined
  readonly #enough = new AbortController()
  #arrived = 0
  #unverified = 0

  constructor(secrets: readonly NamedSecret[], flags: ListenFlags, terminal: Terminal) {
    this.#secrets = secrets
    this.#flags = flags
    this.#terminal = terminal
    const { save, field } = flags
    const { cwd } = terminal
    if (save !== undefined) this.#place = { folder: new DeliveryFolder(resolve(cwd, save), field), cwd }
    this.#timeoutMs = durationMs(flags.timeout, { option: 'timeout', minMs: 1, maxMs: 86_400_000 })
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#serve(request, response).catch(error => {
      this.#terminal.err(`Error: ${isError(error) ? error.message : String(error)}`)
      if (!response.headersSent) response.writeHead(500)
      response.end()
    })
  }

  async ended(): Promise<void> {
    const ending = AbortSignal.any([this.#terminal.stop, this.#enough.signal])
    if (!ending.aborted) await once(ending, 'abort')
  }

  exitCode(): number {
    return this.#flags.count !== undefined && this.#unverified > 0 ? EXIT.failed : EXIT.ok
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { forward: address, count, insecure } = this.#flags
    const request = await readRequest(incoming)
    const arrival = await examine(request, this.#secrets, this.#flags, this.#place)
    const limits = { timeoutMs: this.#timeoutMs, signal: this.#terminal.stop, insecure }
    const reply = address === undefined ? replyTo(arrival) : await forward(address, request, limits)
    response.writeHead(reply.status, reply.headers).end(reply.body)
    this.#show(address === undefined ? arrival : withReplyOfApp(arrival, reply, this.#secrets))
    if (arrival.verified === false) this.#unverified++
    if (++this.#arrived === count) this.#enough.abort()
  }

  #show(arrival: Arrival): void {
    const { out, colors, columns } = this.#terminal
    if (this.#flags.json) out(JSON.stringify({ ...arrival, at: new Date(arrival.at).toISOString() }))
    else for (const line of describeArrival(arrival, colors, columns)) out(line)
  }
}

/** Explains why the app refuses a delivery that verifies here, or gives no acknowledgement at all. */
function withReplyOfApp(
  arrival: Arrival,
  { status, error, body, location }: ForwardedReply,
  secrets: readonly NamedSecret[],
): Arrival {
  const reply =
    error === undefined
      ? { status, ...codeOf(new TextDecoder().decode(body)), ...(location && { location }) }
      : { error }
  const hints = hintsFor([reply], 'listen')
  const forwarded = {
    ...arrival,
    forwarded: status,
    ...(error !== undefined && { forwardError: error }),
    ...(hints.length > 0 && { hints }),
  }
  if (arrival.verified !== true || status !== 401) return forwarded
  const source = secrets.map(secret => secret.source).join(' or ')
  const text = `The signature is valid: it verifies here with the secret from ${source}. Your app refuses it, so one of its settings differs. Most likely it is the secret: compare SIGNING_SECRET where your app runs. Otherwise it is the clock, the tolerance or the contract option, or a proxy in front of your app requires a login.`
  return { ...forwarded, findings: [...arrival.findings, { cause: 'app-differs', proven: true, text }] }
}

function replyTo({ verified }: Arrival): ForwardedReply {
  const [status, code] = verified === false ? ([401, 'unauthorized'] as const) : ([202, 'accepted'] as const)
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: new TextEncoder().encode(JSON.stringify({ code })),
  }
}

function announce(
  address: string,
  secrets: readonly NamedSecret[],
  flags: ListenFlags,
  { out, colors }: Terminal,
): void {
  if (flags.json) {
    out(JSON.stringify({ listening: address }))
    return
  }
  const { bold, dim, warn } = createPaint(colors)
  out(`Listening on ${bold(address)}${flags.forward ? `, forwarding to ${flags.forward}` : ''}`)
  if (secrets.length > 0)
    out(dim(`Verifying with the secret from ${secrets[0]?.source}. Press Ctrl-C to stop.`))
  else {
    const saved = flags.save === undefined ? '' : `, and all is saved in ${join(flags.save, 'unverified')}`
    out(warn(`No secret, so nothing is verified${saved}: set SIGNING_SECRET. Press Ctrl-C to stop.`))
  }
}

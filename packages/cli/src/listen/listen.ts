import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import type { Delivery } from '../delivery/delivery-file.ts'
import { eventOf } from '../delivery/event-of.ts'
import { saveDelivery } from '../delivery/save-delivery.ts'
import { diagnose } from '../doctor/diagnose.ts'
import { EXIT } from '../exit-codes.ts'
import { findSecrets, type NamedSecret } from '../secrets/resolve-secrets.ts'
import { contractOf } from '../shared-options.ts'
import { createPaint } from '../terminal/paint.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { UsageError } from '../usage-error.ts'
import { type Arrival, describeArrival } from './arrival.ts'
import { type ForwardedReply, forward } from './forward.ts'
import type { ListenFlags } from './listen-command.ts'
import { readDeliveryFrom } from './read-request.ts'

/** Listens until Ctrl-C, or until `--count` deliveries have come. */
export async function listen(flags: ListenFlags, terminal: Terminal): Promise<number> {
  const secrets = findSecrets(flags, terminal)
  if (secrets.length > 0) await probe(secrets, flags)
  let arrived = 0
  let unverified = 0
  const enough = new AbortController()
  const ending = AbortSignal.any([terminal.stop, enough.signal])

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const delivery = await readDeliveryFrom(request)
    const arrival = await examine(delivery, secrets, flags, terminal.cwd)
    const reply = flags.forward === undefined ? replyTo(arrival) : await forward(flags.forward, delivery)
    response.writeHead(reply.status, reply.headers).end(reply.body)
    show({ ...arrival, ...(flags.forward !== undefined && { forwarded: reply.status }) }, flags, terminal)
    if (arrival.verified === false) unverified++
    if (++arrived === flags.count) enough.abort()
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(error => {
      terminal.err(`Error: ${error instanceof Error ? error.message : String(error)}`)
      if (!response.headersSent) response.writeHead(500)
      response.end()
    })
  })
  await new Promise<void>((started, failed) => {
    server.once('listening', started).once('error', error => failed(cannotListen(error, flags)))
    server.listen(flags.port, flags.host)
  })
  const { port } = server.address() as AddressInfo
  announce(
    `http://${flags.host.includes(':') ? `[${flags.host}]` : flags.host}:${port}`,
    secrets,
    flags,
    terminal,
  )
  await new Promise<void>(done => {
    if (ending.aborted) done()
    ending.addEventListener('abort', () => done(), { once: true })
  })
  server.close()
  server.closeIdleConnections()
  return flags.count !== undefined && unverified > 0 ? EXIT.failed : EXIT.ok
}

async function examine(
  delivery: Delivery,
  secrets: readonly NamedSecret[],
  flags: ListenFlags,
  cwd: string,
): Promise<Arrival> {
  const saved = flags.save === undefined ? {} : { saved: saveDelivery(resolve(cwd, flags.save), delivery) }
  const about = {
    at: delivery.receivedAt,
    method: delivery.method,
    url: delivery.url,
    ...eventOf(delivery.body),
  }
  const bytes = delivery.body.length
  if (secrets.length === 0) return { ...about, bytes, verified: undefined, findings: [], ...saved }
  const options = { contract: contractOf(flags), tolerance: flags.tolerance }
  const diagnosis = await diagnose(delivery, { ...options, secrets })
  // While a rotation lasts, a receiver that knows all of these secrets takes what any of them signed.
  const byAnother = diagnosis.findings.length === 1 && diagnosis.findings[0]?.cause === 'secret-other'
  return { ...about, bytes, ...diagnosis, verified: diagnosis.verified || byAnother, ...saved }
}

/** A secret that no receiver takes is told at the start and not at the first delivery. */
async function probe(secrets: readonly NamedSecret[], flags: ListenFlags): Promise<void> {
  const nothing: Delivery = { method: 'POST', url: '/', headers: [], body: new Uint8Array(), receivedAt: 0 }
  await diagnose(nothing, { secrets, contract: contractOf(flags), tolerance: flags.tolerance })
}

function replyTo({ verified }: Arrival): ForwardedReply {
  const [status, code] = verified === false ? [401, 'unauthorized'] : [202, 'accepted']
  return {
    status: status as number,
    headers: { 'content-type': 'application/json' },
    body: new TextEncoder().encode(JSON.stringify({ code })),
  }
}

function show(arrival: Arrival, flags: ListenFlags, terminal: Terminal): void {
  if (flags.json) {
    terminal.out(JSON.stringify({ ...arrival, at: new Date(arrival.at).toISOString() }))
    return
  }
  for (const line of describeArrival(arrival, terminal.colours)) terminal.out(line)
}

function announce(
  address: string,
  secrets: readonly NamedSecret[],
  flags: ListenFlags,
  terminal: Terminal,
): void {
  if (flags.json) {
    terminal.out(JSON.stringify({ listening: address }))
    return
  }
  const { bold, dim, warn } = createPaint(terminal.colours)
  terminal.out(`Listening on ${bold(address)}${flags.forward ? `, forwarding to ${flags.forward}` : ''}`)
  if (secrets.length > 0)
    terminal.out(dim(`Verifying with the secret from ${secrets[0]?.source}. Ctrl-C ends.`))
  else terminal.out(warn('No secret, so nothing is verified: set ACKHOOK_SECRET. Ctrl-C ends.'))
}

function cannotListen(error: Error, { port, host }: ListenFlags): UsageError {
  const busy = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
  const reason = busy ? 'something else uses this port; choose another one with --port' : error.message
  return new UsageError(`cannot listen on ${host}:${port}: ${reason}`, { cause: error })
}

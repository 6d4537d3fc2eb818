import { relative } from 'node:path'
import type { Contract, Duration } from '@ackhook/core'
import {
  durationMs,
  parseSignatureHeader,
  parseTimestamp,
  printable,
  Refusal,
  resolveContract,
} from '@ackhook/core/spi'
import { formatTimestamp, type PostResult, post, sign } from '@ackhook/testing'
import { Command } from 'commander'
import { EXIT } from '../command/exit-codes.ts'
import type { Finish } from '../command/finish.ts'
import {
  contractOf,
  type InsecureFlags,
  parseDuration,
  parseUrl,
  type SecretFlags,
  type SentContractFlags,
  type SentUnit,
  withContract,
  withInsecure,
  withJson,
  withSecret,
  withSentUnit,
} from '../command/shared-options.ts'
import { type CapturedRequest, headersToSend, joinHeaders } from '../delivery/captured-request.ts'
import { readDeliveries } from '../delivery/delivery-file.ts'
import { hintsFor, messagesOf } from '../delivery/hints-for.ts'
import { resolveSecrets } from '../secrets/resolve-secrets.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint } from '../terminal/text.ts'

interface ReplayFlags extends SecretFlags, SentContractFlags, InsecureFlags {
  readonly to: string
  readonly resign?: boolean
  readonly timeout: Duration
  readonly json?: boolean
}

export function replayCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('replay')
    .description('Send saved deliveries again: the same bytes, with the old signature or a new one')
    .argument('<path>', 'a saved delivery, a directory of them, or - for standard input')
    .requiredOption('--to <url>', "the receiver's address", parseUrl)
    .option('--resign', 'sign the same bytes again, with your secret and the current time')
    .option('--timeout <duration>', 'how long to wait for each reply', parseDuration, '10s' as Duration)
    .addHelpText('after', HELP)
    .action(async (path: string, flags: ReplayFlags) => finish(await replay(path, flags, terminal)))
  return withJson(withInsecure(withSentUnit(withContract(withSecret(command)))))
}

const HELP = `
Without --resign, the original signature and time are sent: a receiver refuses them once they are older than
its tolerance (5 minutes by default). Exit code 0 if every delivery was acknowledged, 1 otherwise.

Examples:
  $ ackhook replay deliveries --to http://localhost:3000/webhooks --resign
  $ ackhook replay deliveries/one.json --to http://localhost:3000/webhooks`

interface Replayed extends PostResult {
  readonly file: string
  /** `true` if the signature is too old for an app with the default tolerance. */
  readonly outdated: boolean
}

/** The receiver's default tolerance. */
const TOLERANCE_MS = 5 * 60_000

/** Sends the saved deliveries in the order of their file names, and prints each reply. */
export async function replay(path: string, flags: ReplayFlags, terminal: Terminal): Promise<number> {
  const deliveries = await readDeliveries(path, terminal)
  const secret = flags.resign ? (await resolveSecrets(flags, terminal))[0]?.value : undefined
  const contract = resolveContract(contractOf(flags))
  const signing = secret === undefined ? undefined : { secret, unit: flags.timestampUnit, ...contract }
  const timeoutMs = durationMs(flags.timeout, { option: 'timeout', minMs: 1, maxMs: 86_400_000 })
  const bar = terminal.progress(deliveries.length, `Replaying ${deliveries.length} deliveries`)
  const results: Replayed[] = []
  for (const { file, delivery } of deliveries) {
    if (terminal.stop.aborted) break
    const request = {
      method: 'POST' as const,
      headers: headersFor(delivery, signing),
      body: new Uint8Array(delivery.body),
      context: undefined,
    }
    const result = await post(flags.to, request, {
      timeoutMs,
      signal: terminal.stop,
      insecure: flags.insecure,
    })
    const outdated = signing === undefined && isOutdated(delivery, contract)
    results.push({ file: relative(terminal.cwd, file), outdated, ...result })
    bar.advance()
  }
  bar.stop()
  report(results, flags, terminal)
  const acknowledged = results.filter(isAcknowledged)
  return acknowledged.length === deliveries.length ? EXIT.ok : EXIT.failed
}

function headersFor(
  delivery: CapturedRequest,
  signing: (Contract & { readonly secret: string; readonly unit: SentUnit }) | undefined,
): Record<string, string> {
  const headers = headersToSend(delivery.headers)
  if (signing === undefined) return headers
  const { header, scheme, secret, unit } = signing
  const timestamp = formatTimestamp(Date.now(), unit)
  return { ...headers, [header]: sign(delivery.body, { secret, scheme, timestamp }) }
}

/** An unreadable `t` is refused for another reason. */
function isOutdated(delivery: CapturedRequest, { header, scheme }: Contract): boolean {
  const signature = parseSignatureHeader(joinHeaders(delivery.headers)[header] ?? '', scheme)
  const ms = signature instanceof Refusal ? undefined : parseTimestamp(signature.timestamp, 'auto')
  return ms !== undefined && Date.now() - ms > TOLERANCE_MS
}

function report(results: readonly Replayed[], flags: ReplayFlags, terminal: Terminal): void {
  if (flags.json) {
    const deliveries = results.map(result => {
      const { file, status, code, error } = result
      const [message] = messagesOf([result])
      return { file, status, code, error, message, hints: hintsFor([result], 'replay') }
    })
    terminal.out(
      JSON.stringify({ to: flags.to, acknowledged: results.filter(isAcknowledged).length, deliveries }),
    )
    return
  }
  const paint = createPaint(terminal.colors)
  for (const result of results) {
    const answer = printable(
      result.status === undefined ? `no reply: ${result.error}` : `${result.status} ${result.code ?? ''}`,
    ).trim()
    const good = isAcknowledged(result)
    terminal.out(`${good ? paint.good('✓') : paint.bad('✗')} ${result.file}  ${answer}`)
  }
  const tooOld = results.filter(({ status, outdated }) => status === 401 && outdated)
  if (tooOld.length > 0) {
    terminal.out(
      '  The old signature was refused, as it should be: it is older than the tolerance, 5 minutes by default. Add --resign.',
    )
  }
  for (const message of messagesOf(results)) terminal.out(`  your app says: ${printable(message)}`)
  const others = results.filter(one => !tooOld.includes(one))
  for (const hint of hintsFor(others, 'replay')) terminal.out(`  ${hint}`)
}

function isAcknowledged({ status = 0 }: PostResult): boolean {
  return status >= 200 && status < 300
}

import type { Duration, WebhookEvent } from '@ackhook/core'
import { KNOWN_TYPES, nearest, printable } from '@ackhook/core/spi'
import { Pace } from '@ackhook/dashboard/verbs'
import { curlOf } from '@ackhook/emulator/routes'
import {
  createEvent,
  createSender,
  formatTimestamp,
  type Sender,
  type SendReport,
  type SignedRequest,
  signedRequest,
} from '@ackhook/testing'
import { EVENT_TYPES } from '@ackhook/testing/spi'
import { Command } from 'commander'
import { EXIT } from '../command/exit-codes.ts'
import type { Finish } from '../command/finish.ts'
import { parseRate } from '../command/pace.ts'
import { readData } from '../command/read-data.ts'
import {
  contractOf,
  type InsecureFlags,
  parseCount,
  parseDuration,
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
import { resolveSecrets } from '../secrets/resolve-secrets.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint, table } from '../terminal/text.ts'
import { replay } from './replay.ts'
import { describeSummary, summarize } from './summary.ts'

interface SendFlags extends SecretFlags, SentContractFlags, InsecureFlags {
  readonly to: string
  readonly data?: string
  readonly id?: string
  readonly repeat: number
  readonly duplicate?: boolean
  readonly rate?: number
  readonly concurrency: number
  readonly attempts: number
  readonly timeout: Duration
  readonly dryRun?: boolean
  readonly curl?: boolean
  readonly json?: boolean
}

interface ListFlags {
  readonly to?: string
  readonly list?: boolean
  readonly fromFile?: string
}

export function sendCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('send')
    .description('Send signed events to a receiver, as the platform would')
    .argument('[type]', 'event type, such as conversation.resolved')
    .option('--to <url>', "the receiver's address", parseUrl)
    .option('--list', 'print all event types with example data, and send nothing')
    .option('--data <file or json>', 'event data: JSON, the path of a JSON file, or - for standard input')
    .option(
      '--from-file <file>',
      "send a saved delivery's event byte for byte, with a new signature; - reads standard input",
    )
    .option('--id <id>', 'event id (default: a new one for each)')
    .option('--repeat <n>', 'send this many events', parseCount, 1)
    .option('--duplicate', 'send each event twice')
    .option('--rate <n>', 'send this many events per second (default: no limit)', parseRate)
    .option('--concurrency <n>', 'maximum number of events in flight', parseCount, 8)
    .option('--attempts <n>', 'attempts for each event, with backoff between them', parseCount, 1)
    .option('--timeout <duration>', 'how long to wait for each reply', parseDuration, '10s' as Duration)
    .option('--dry-run', 'print the requests and send nothing')
    .option('--curl', 'print commands for curl and send nothing')
    .addHelpText('after', HELP)
    .action(async (type: string | undefined, flags: Omit<SendFlags, 'to'> & ListFlags) => {
      const { list, to } = flags
      if (list) return listTypes(flags, terminal)
      if (flags.fromFile !== undefined) return finish(await sendFile(flags.fromFile, type, flags, terminal))
      if (type === undefined) throw new UsageError('give an event type; --list prints all of them')
      if (to === undefined) throw new UsageError("set the receiver's address with --to")
      finish(await send(type, { ...flags, to }, terminal))
    })
  return withJson(withInsecure(withSentUnit(withContract(withSecret(command)))))
}

/** Sends a saved event. Flags that shape a generated event have no meaning for it. */
function sendFile(
  file: string,
  type: string | undefined,
  { to, data, id, repeat, duplicate, dryRun, curl, ...flags }: Partial<SendFlags> & Omit<SendFlags, 'to'>,
  terminal: Terminal,
): Promise<number> {
  if ([type, data, id, duplicate, dryRun, curl].some(one => one !== undefined) || repeat !== 1) {
    throw new UsageError(
      '--from-file sends one saved event once: omit the type and the options that shape or repeat an event',
    )
  }
  if (to === undefined) throw new UsageError("set the receiver's address with --to")
  return replay(file, { ...flags, to, resign: true }, terminal)
}

const HELP = `
Exit code 0 if every event was acknowledged, 1 otherwise. If your app sets the contract option, set
--header, --scheme, --timestamp-unit and --field to the same values.

Examples:
  $ ackhook send --list
  $ ackhook send conversation.resolved --to http://localhost:3000/webhooks
  $ ackhook send conversation.resolved --to http://localhost:3000/webhooks --data '{"resolved_by":"agent"}'
  $ ackhook send my.type --to http://localhost:3000/webhooks --data data.json --duplicate
  $ ackhook send conversation.resolved --to http://localhost:3000/webhooks --repeat 1000 --rate 50
  $ ackhook send conversation.resolved --to http://localhost:3000/webhooks --curl
  $ ackhook send --from-file delivery.json --to http://localhost:3000/webhooks
  $ ackhook send conversation.resolved --to http://localhost:3000/webhooks --field id=event_id --timestamp-unit milliseconds`

const UNCHANGED = '; ackhook emulator send --raw-data keeps it as written'

/** Sends the events and prints the result. */
async function send(type: string, flags: SendFlags, terminal: Terminal): Promise<number> {
  if (flags.id !== undefined && flags.repeat > 1) {
    throw new UsageError(
      '--id gives every event the same id, so --repeat would send one event many times. Use --duplicate to repeat an event.',
    )
  }
  const data =
    flags.data === undefined ? undefined : await readData(flags.data, terminal, '--data', UNCHANGED)
  const secret = (await resolveSecrets(flags, terminal))[0]!.value
  const { to: url, attempts, timeout, insecure } = flags
  // Created before a dry run too, as it checks the options.
  const sender = createSender({
    url,
    secret,
    attempts,
    timeout,
    insecure,
    minDelay: '1s',
    ...contractOf(flags),
    faults: { duplicate: flags.duplicate === true },
  })
  adviseOn(type, flags, terminal)
  const makeEvent = () =>
    createEvent(type, {
      ...(flags.id !== undefined && { id: flags.id }),
      ...(data !== undefined && { data }),
    })
  if (flags.dryRun || flags.curl) {
    showRequests(makeEvent, secret, flags, terminal)
    return EXIT.ok
  }
  const reports = await sendPaced(sender, makeEvent, flags, terminal)
  const summary = summarize(reports)
  if (flags.json) terminal.out(JSON.stringify({ type, to: url, ...summary }))
  else for (const line of describeSummary(summary, terminal.colors)) terminal.out(line)
  return summary.sent === flags.repeat && summary.undelivered === 0 ? EXIT.ok : EXIT.failed
}

/** Warns about a type that is probably misspelled: receivers acknowledge it like any other, and nothing happens. */
function adviseOn(type: string, { data }: SendFlags, { err }: Terminal): void {
  if (KNOWN_TYPES.includes(type)) return
  const meant = nearest(type, KNOWN_TYPES)
  if (meant !== undefined) err(`Warning: the platform has no type ${printable(type)}; did you mean ${meant}?`)
  else if (data === undefined)
    err(
      `Note: ${printable(type)} has no published data, so its data is empty; set it with --data (see --list for examples).`,
    )
}

/** Sends at most `concurrency` events at a time, started at `rate`, until all are done or Ctrl-C. */
async function sendPaced(
  sender: Sender,
  makeEvent: () => ReturnType<typeof createEvent>,
  { repeat, rate, concurrency }: SendFlags,
  terminal: Terminal,
): Promise<readonly SendReport[]> {
  const reports: SendReport[] = []
  const bar = terminal.progress(repeat, `Sending ${repeat} events`)
  const pace = new Pace(rate, terminal.stop)
  let next = 0
  terminal.stop.addEventListener('abort', () => sender.close())

  async function sendNext(): Promise<void> {
    while (next < repeat && !terminal.stop.aborted) {
      const index = next++
      await pace.reach(index)
      if (terminal.stop.aborted) return
      reports.push(await sender.send(makeEvent()))
      bar.advance()
    }
  }

  await Promise.all(Array.from({ length: Math.min(concurrency, repeat) }, sendNext))
  bar.stop()
  return reports
}

/** Prints every published or planned event type with example data. */
function listTypes({ json }: { readonly json?: boolean }, { out, colors }: Terminal): void {
  if (json) {
    out(JSON.stringify({ types: EVENT_TYPES }))
    return
  }
  const { bold, dim, warn } = createPaint(colors)
  const rows = (published: boolean) =>
    table(
      EVENT_TYPES.filter(one => one.published === published).map(({ type, meaning, data }) => [
        `  ${type}`,
        meaning,
        dim(JSON.stringify(data)),
      ]),
    )
  out(bold('Published'))
  for (const line of rows(true)) out(line)
  out('')
  out(`${bold('Planned')}${warn(': names and data are guesses, and may change')}`)
  for (const line of rows(false)) out(line)
  out('')
  out(`npx ackhook send conversation.resolved --to <url>, or a planned type with its data:`)
  out(`npx ackhook send call.missed --to <url> --data '{"call_id":"cal_1"}'`)
}

/** Prints the requests that would be sent, signed now: as text, as JSON, or as commands for `curl`. Sends nothing. */
function showRequests(
  makeEvent: () => WebhookEvent<string, object>,
  secret: string,
  flags: SendFlags,
  terminal: Terminal,
): void {
  const times = flags.duplicate ? 2 : 1
  for (let i = 0; i < flags.repeat && !terminal.stop.aborted; i++) {
    const event = makeEvent()
    for (let j = 0; j < times; j++) {
      const request = signedRequest(event, {
        secret,
        timestamp: formatTimestamp(Date.now(), flags.timestampUnit),
        ...(flags.header !== undefined && { header: flags.header }),
        ...(flags.scheme !== undefined && { scheme: flags.scheme }),
        ...(flags.field !== undefined && { fields: flags.field }),
      })
      terminal.out(format(request, flags), flags.curl ? 'exact' : undefined)
    }
  }
}

function format(request: SignedRequest, { to, curl, json }: SendFlags): string {
  const body = new TextDecoder().decode(request.body)
  if (curl) return curlOf({ url: to, headers: request.headers, body: { text: body, base64: null } })
  if (json) return JSON.stringify({ method: request.method, url: to, headers: request.headers, body })
  const { host, pathname, search } = new URL(to)
  const head = [`POST ${pathname}${search} HTTP/1.1`, `host: ${host}`]
  const headers = Object.entries(request.headers)
  return [...head, ...headers.map(([name, value]) => `${name}: ${value}`), '', printable(body), ''].join('\n')
}

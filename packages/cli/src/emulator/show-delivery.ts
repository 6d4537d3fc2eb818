import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { printable } from '@ackhook/core/spi'
import type { AttemptView, BytesView, DeliveryDetail } from '@ackhook/emulator'
import { curlOfDelivery, testOf } from '@ackhook/emulator/routes'
import { EXIT } from '../command/exit-codes.ts'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint, table, timeText } from '../terminal/text.ts'
import { withEmulator } from './client.ts'
import { toDeliveryId } from './deliveries.ts'
import type { PlaceFlags } from './options.ts'

interface ShowFlags extends PlaceFlags {
  readonly body?: boolean
  /** Print commands that repeat the last request with `curl`. */
  readonly curl?: boolean
  /** Print a test that delivers the event. */
  readonly test?: boolean
  /** Save the last request to this file. */
  readonly save?: string
}

/** Prints a delivery with each attempt's request and reply, or only what --body, --curl, --test or --save selects. */
export function show(args: readonly string[], flags: ShowFlags, terminal: Terminal): Promise<number> {
  const [id = ''] = args
  return withEmulator(flags, terminal, async emulator => {
    const path = `/deliveries/${await toDeliveryId(id, emulator)}`
    if (flags.save !== undefined) {
      const text = JSON.stringify(await emulator.get<object>(`${path}/request`), undefined, 2)
      if (flags.save === '-') terminal.out(text)
      else save(flags.save, `${text}\n`, terminal)
      return EXIT.ok
    }
    const detail = await emulator.get<DeliveryDetail>(path)
    // Printed unchanged, as `replay --body` reads it from a file.
    if (flags.body) terminal.out(detail.body.text, 'exact')
    else if (flags.curl) terminal.out(lastRequestOf(detail), 'exact')
    else if (flags.test) terminal.out(testFileOf(detail), 'exact')
    else if (flags.json) terminal.out(JSON.stringify(detail))
    else for (const line of describe(detail, terminal)) terminal.out(line)
    return EXIT.ok
  })
}

/** Saves a request that only the owner can read, as it contains customer data. */
function save(file: string, text: string, { cwd, err }: Terminal): void {
  try {
    writeFileSync(resolve(cwd, file), text, { mode: 0o600 })
  } catch (cause) {
    throw new UsageError(`cannot write the file of --save: ${(cause as Error).message}`, { cause })
  }
  err(`Saved as ${printable(file)} for ackhook verify and ackhook send --from-file.`)
}

function lastRequestOf(detail: DeliveryDetail): string {
  const command = curlOfDelivery(detail)
  if (command !== undefined) return command
  throw new UsageError(`${printable(detail.event)} has not been sent yet: wait for its first attempt.`)
}

function testFileOf(detail: DeliveryDetail): string {
  const file = testOf(detail)
  if (file !== undefined) return file.trimEnd()
  throw new UsageError(`${printable(detail.event)} is not a JSON object in UTF-8: --save keeps its bytes.`)
}

function describe(detail: DeliveryDetail, terminal: Terminal): readonly string[] {
  const { id, event, type, guess, workspace, kind, state, reason, createdAt, nextAttemptAt, origin } = detail
  const { seq, arrival, marks, to } = detail
  const rows = [
    ['delivery', id],
    ['event', printable(event)],
    ['type', printable(type) + (guess ? ' (not published: a guess)' : '')],
    ['workspace', workspace],
    ['state', reason === null ? state : `${state}: ${printable(reason)}`],
    ['created', timeText(createdAt, terminal)],
    ['order', `created as ${seq}, ${arrival === null ? 'not sent yet' : `arrived as ${arrival}`}`],
    ...(marks.length === 0 ? [] : [['marks', marks.join(', ').replaceAll('_', ' ')]]),
    ...(to === null ? [] : [['sent to', printable(to)]]),
    ...(nextAttemptAt === null ? [] : [['next attempt', timeText(nextAttemptAt, terminal)]]),
    ...(kind === 'event' ? [] : [['kind', origin === null ? kind : `${kind} of ${origin}`]]),
  ]
  const attempts = folded(detail.log).flatMap(equal => describeAttempts(equal, terminal))
  return [...table(rows), '', ...textLines(detail.body), ...attempts]
}

/** Headers that differ with every reply. */
const ALWAYS_NEW = ['date', 'x-request-id']

/** Groups attempts that follow each other with the same request, but for its signature, and the same reply. */
function folded(log: readonly AttemptView[]): readonly (readonly [AttemptView, ...AttemptView[]])[] {
  const groups: [AttemptView, ...AttemptView[]][] = []
  for (const attempt of log) {
    const last = groups.at(-1)
    if (last !== undefined && exchangeOf(last[0]) === exchangeOf(attempt)) last.push(attempt)
    else groups.push([attempt])
  }
  return groups
}

function exchangeOf(attempt: AttemptView): string {
  const { status, error, code, faults, url, requestBody, replyHeaders, replyBody } = attempt
  const headers = replyHeaders.filter(([name]) => !ALWAYS_NEW.includes(name.toLowerCase()))
  return JSON.stringify([status, error, code, faults, url, requestBody, headers, replyBody])
}

/** Describes the first of equal attempts, and when the others were made. */
function describeAttempts(
  [first, ...others]: readonly [AttemptView, ...AttemptView[]],
  terminal: Terminal,
): readonly string[] {
  const lines = describeAttempt(first, terminal)
  const last = others.at(-1)
  if (last === undefined) return lines
  const { bold } = createPaint(terminal.colors)
  const numbers =
    others.length === 1 ? `attempt ${last.number}` : `attempts ${others[0]?.number} to ${last.number}`
  const times = new Set([others[0]?.at ?? last.at, last.at].map(at => timeText(at, terminal)))
  return [...lines, '', `${bold(numbers)}  ${[...times].join(' to ')}  the same reply`]
}

function describeAttempt(attempt: AttemptView, terminal: Terminal): readonly string[] {
  const { good, bad, bold, dim } = createPaint(terminal.colors)
  const { number, at, durationMs, acknowledged, status, code, error, faults, url } = attempt
  const answer = status === null ? `no reply: ${error}` : [status, code ?? ''].join(' ').trim()
  const fault = faults.length === 0 ? '' : `, injected fault: ${faults.join(', ')}`
  const headers = Object.entries(attempt.requestHeaders).map(([name, value]) => `> ${name}: ${value}`)
  const changed =
    attempt.requestBody === null
      ? []
      : ['> (a different body from the one above)', ...textLines(attempt.requestBody)]
  const replyHeaders = attempt.replyHeaders.map(([name, value]) => `< ${name}: ${value}`)
  const body = attempt.replyBody.text === '' ? [] : textLines(attempt.replyBody).map(line => `< ${line}`)
  return [
    '',
    `${bold(`attempt ${number}`)}  ${timeText(at, terminal)}  ${Math.round(durationMs)} ms  ${(acknowledged ? good : bad)(printable(answer))}${fault}`,
    ...[`> POST ${url}`, ...headers].map(line => dim(printable(line))),
    ...changed,
    ...replyHeaders.map(line => dim(printable(line))),
    ...body,
    ...(attempt.truncated ? [dim('< (the reply was longer)')] : []),
  ]
}

/** Formats a body as it was sent, because parsing JSON could change its numbers. */
function textLines({ text, base64 }: BytesView): readonly string[] {
  const lines = text.split('\n').map(printable)
  return base64 === null ? lines : [...lines, `(not UTF-8; in base64: ${base64})`]
}

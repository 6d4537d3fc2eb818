import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { printable } from '@ackhook/core/spi'
import type { AttemptView, BytesView, DeliveryDetail } from '@ackhook/emulator'
import { curlOfDelivery } from '@ackhook/emulator/routes'
import { EXIT } from '../command/exit-codes.ts'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint, type Paint, table } from '../terminal/text.ts'
import { withEmulator } from './client.ts'
import { toDeliveryId } from './deliveries.ts'
import type { PlaceFlags } from './options.ts'

interface ShowFlags extends PlaceFlags {
  readonly body?: boolean
  /** Print commands that repeat the last request with `curl`. */
  readonly curl?: boolean
  /** Save the last request to this file. */
  readonly save?: string
}

/** Prints a delivery with each attempt's request and reply, or only the part that --body, --curl or --save selects. */
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
    if (flags.body) terminal.out(detail.body.text)
    else if (flags.curl) terminal.out(lastRequestOf(detail))
    else if (flags.json) terminal.out(JSON.stringify(detail))
    else for (const line of describe(detail, createPaint(terminal.colors))) terminal.out(line)
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

function describe(detail: DeliveryDetail, paint: Paint): readonly string[] {
  const { id, event, type, guess, workspace, kind, state, reason, createdAt, nextAttemptAt, origin } = detail
  const rows = [
    ['delivery', id],
    ['event', printable(event)],
    ['type', printable(type) + (guess ? ' (not published: a guess)' : '')],
    ['workspace', workspace],
    ['state', reason === null ? state : `${state}: ${printable(reason)}`],
    ['created', createdAt],
    ...(nextAttemptAt === null ? [] : [['next attempt', nextAttemptAt]]),
    ...(kind === 'event' ? [] : [['kind', origin === null ? kind : `${kind} of ${origin}`]]),
  ]
  const attempts = detail.log.flatMap(attempt => describeAttempt(attempt, paint))
  return [...table(rows), '', ...textLines(detail.body), ...attempts]
}

function describeAttempt(attempt: AttemptView, { good, bad, bold, dim }: Paint): readonly string[] {
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
    `${bold(`attempt ${number}`)}  ${at}  ${Math.round(durationMs)} ms  ${(acknowledged ? good : bad)(printable(answer))}${fault}`,
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

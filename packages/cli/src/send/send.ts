import { KNOWN_TYPES, nearest, printable } from '@ackhook/core/spi'
import { createEvent, createSender, type Sender, type SendReport } from '@ackhook/testing'
import { EXIT } from '../command/exit-codes.ts'
import { Pace } from '../command/pace.ts'
import { readData } from '../command/read-data.ts'
import { contractOf } from '../command/shared-options.ts'
import { UsageError } from '../command/usage-error.ts'
import { resolveSecrets } from '../secrets/resolve-secrets.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { SendFlags } from './send-flags.ts'
import { showRequests } from './show-requests.ts'
import { describeSummary, summarize } from './summary.ts'

const UNCHANGED = '; ackhook emulator send --raw-data keeps it as written'

/** Sends the events and prints the result. */
export async function send(type: string, flags: SendFlags, terminal: Terminal): Promise<number> {
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

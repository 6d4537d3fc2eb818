import { setTimeout as sleep } from 'node:timers/promises'
import { createEvent, createSender, type Sender, type SendReport } from '@ackhook/testing'
import { EXIT } from '../command/exit-codes.ts'
import { UsageError } from '../command/usage-error.ts'
import { resolveSecrets } from '../secrets/resolve-secrets.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { readData } from './read-data.ts'
import type { SendFlags } from './send-flags.ts'
import { describeSummary, summarise } from './summary.ts'

/** Sends the events and prints the result. */
export async function send(type: string, flags: SendFlags, terminal: Terminal): Promise<number> {
  if (flags.id !== undefined && flags.repeat > 1) {
    throw new UsageError(
      '--id gives every event the same id, so --repeat would send one event again and again. Use --duplicate for that.',
    )
  }
  const data = flags.data === undefined ? undefined : readData(flags.data, terminal.cwd)
  const [secret] = await resolveSecrets(flags, terminal)
  const { to: url, attempts, timeout, header, scheme } = flags
  const sender = createSender({
    url,
    secret: secret!.value,
    attempts,
    timeout,
    minDelay: '1s',
    ...(header !== undefined && { header }),
    ...(scheme !== undefined && { scheme }),
    faults: { duplicate: flags.duplicate === true },
  })
  const makeEvent = () =>
    createEvent(type, {
      ...(flags.id !== undefined && { id: flags.id }),
      ...(data !== undefined && { data }),
    })
  const reports = await sendPaced(sender, makeEvent, flags, terminal)
  const summary = summarise(reports)
  if (flags.json) terminal.out(JSON.stringify({ type, to: url, ...summary }))
  else for (const line of describeSummary(summary, terminal.colours)) terminal.out(line)
  return summary.sent === flags.repeat && summary.undelivered === 0 ? EXIT.ok : EXIT.failed
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
  const startedAt = performance.now()
  let next = 0
  terminal.stop.addEventListener('abort', () => sender.close())

  async function sendNext(): Promise<void> {
    while (next < repeat && !terminal.stop.aborted) {
      const index = next++
      if (rate !== undefined) await waitUntil(startedAt + (index * 1000) / rate, terminal.stop)
      if (terminal.stop.aborted) return
      reports.push(await sender.send(makeEvent()))
      bar.advance()
    }
  }

  await Promise.all(Array.from({ length: Math.min(concurrency, repeat) }, sendNext))
  bar.stop()
  return reports
}

async function waitUntil(instant: number, signal: AbortSignal): Promise<void> {
  const ms = instant - performance.now()
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => {})
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../../support/until.ts'
import { nothingIsLeft } from '../nothing-is-left.ts'
import { createPlatform } from '../platform.ts'
import { type ReceiverProcess, startReceiver } from '../receiver-process.ts'
import { LEDGER } from './promises.ts'
import type { Recorder } from './recorder.ts'
import { DATABASE } from './what-is-left.ts'

const SENDERS = 16
/** Every second event has so much data that 180 of them fill the log of SQLite, so that it is checkpointed. */
const LARGE = 'x'.repeat(370_000)

/**
 * Receivers on a new file: one that closes, then two at once, of which one is killed. Resolves with the ids that were
 * acknowledged, once all of them are handled. `events`: how many are sent before the kill, and how many after it.
 */
export async function recordReceivers(
  recorder: Recorder,
  folder: string,
  events: number,
): Promise<ReadonlySet<string>> {
  const platform = createPlatform()
  const settings = {
    mode: 'sqlite',
    database: join(folder, DATABASE),
    ledger: join(folder, LEDGER),
    tellsPromises: true,
    env: recorder.env,
  } as const
  let current: readonly ReceiverProcess[] = []
  let count = 0

  async function send(total: number): Promise<void> {
    const sender = async (): Promise<void> => {
      while (count < total) {
        const index = count++
        const data = { text: index % 2 === 0 ? LARGE : 'small' }
        await platform.deliver(() => current[index % current.length]?.url, `evt_power_${index}`, data)
      }
    }
    await Promise.all(Array.from({ length: SENDERS }, sender))
  }

  async function finish(receiver: ReceiverProcess): Promise<void> {
    await nothingIsLeft(receiver, 60_000)
    receiver.signal('SIGTERM')
    await receiver.exited
  }

  const first = await startReceiver(settings)
  current = [first]
  await send(events / 10)
  await finish(first)

  // One after the other: of two that make the same file at one moment, the record could not say which did.
  const second = await startReceiver(settings)
  const third = await startReceiver(settings)
  current = [second, third]
  const sending = send(2 * events)
  await until('half of it is sent', () => platform.acked.size >= events, 600_000)
  await kill(third)
  current = [second]
  await sending
  await finish(second)
  platform.stop()
  return platform.acked
}

/** Between two calls, all of which are recorded: a kill may end a write half done, and so also that to the record. */
async function kill(receiver: ReceiverProcess): Promise<void> {
  const threads = `/proc/${receiver.pid}/task`
  receiver.signal('SIGSTOP')
  await until('all of its threads are stopped', () => {
    try {
      return readdirSync(threads).every(thread =>
        /\) T /.test(readFileSync(join(threads, thread, 'stat'), 'utf8')),
      )
    } catch {
      // One ended between the two looks.
      return false
    }
  })
  receiver.signal('SIGKILL')
  await receiver.exited
}

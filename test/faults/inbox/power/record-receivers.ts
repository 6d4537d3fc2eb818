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
/** Data of every second event: large enough that 180 of them fill SQLite's log, so that it is checkpointed. */
const LARGE = 'x'.repeat(370_000)

/**
 * Records receivers on a new file: one that closes, then two at once, one of which is killed. Resolves with the
 * acknowledged ids, once all of them are handled. `events`: number sent before the kill, and again after it.
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

  // Starts one after the other: if both created the same file at once, the record could not tell which one did.
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

/** Kills between two recorded calls: a kill can cut off a write, including the one to the record. */
async function kill(receiver: ReceiverProcess): Promise<void> {
  const threads = `/proc/${receiver.pid}/task`
  receiver.signal('SIGSTOP')
  await until('all of its threads are stopped', () => {
    try {
      return readdirSync(threads).every(thread =>
        /\) T /.test(readFileSync(join(threads, thread, 'stat'), 'utf8')),
      )
    } catch {
      // A thread ended between the two reads.
      return false
    }
  })
  receiver.signal('SIGKILL')
  await receiver.exited
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { InboxStats } from '@ackhook/core'
import { describe, expect, it } from 'vitest'
import { inFull, itInFull } from '../../support/in-full.ts'
import { random } from '../../support/random.ts'
import { until } from '../../support/until.ts'
import { createPlatform } from './platform.ts'
import { type Mode, type ReceiverProcess, startReceiver } from './receiver-process.ts'
import { createWorkspace, scaled, type Workspace } from './workspace.ts'

const CONCURRENCY = 8
const SENDERS = 16

/** Kills the receiver `kills` times while events stream in. Returns the platform and the last receiver. */
async function killUnderLoad(mode: Mode, kills: number, space: Workspace) {
  const platform = createPlatform()
  let current: ReceiverProcess | undefined
  let sending = true
  let count = 0
  // Limits the queue to a second of work, so that the rest does not take longer than the kills. Limits retry delays,
  // because an event killed several times in a row would wait for minutes.
  const retry = { minDelay: '50ms', maxDelay: '1s' }
  const options = { concurrency: CONCURRENCY, capacity: 400, ...(mode === 'sqlite' && { retry }) }
  const settings = { mode, workMs: 20, options, ...space }
  const senders = Array.from({ length: SENDERS }, async () => {
    while (sending) await platform.deliver(() => current?.url, `evt_${mode}_${count++}`)
  })
  for (let kill = 0; kill < kills; kill++) {
    current = await startReceiver(settings)
    await sleep(50 + random() * 350)
    current.signal('SIGKILL')
    await current.exited
    current = undefined
  }
  const last = await startReceiver(settings)
  current = last
  sending = false
  await Promise.all(senders)
  platform.stop()
  return { platform, last }
}

describe('kill -9 at random, under load', { timeout: 900_000 }, () => {
  it('loses no event that sqliteInbox acknowledged, and repeats only events that were running', async () => {
    const space = createWorkspace()
    const kills = scaled(200, 4)
    const { platform, last } = await killUnderLoad('sqlite', kills, space)
    await until(
      'everything in the file is handled',
      async () => {
        const { pending, active } = await last.ask<InboxStats>('stats')
        return pending + active === 0
      },
      300_000,
    )
    const { dead: deadLetters } = await last.ask<InboxStats>('stats')
    last.signal('SIGTERM')
    await last.exited
    // A busy machine acknowledges few.
    expect(platform.acked.size).toBeGreaterThan(inFull(kills * 10, kills))
    const { begun, done, dead } = space.read()
    // On a slow machine, an event may be running in five kills in a row: then it is a dead letter, which is not lost.
    const unhandled = [...platform.acked].filter(id => !done.has(id))
    expect(unhandled.filter(id => !dead.has(id))).toEqual([])
    expect(deadLetters).toBeGreaterThanOrEqual(unhandled.length)
    const repeated = [...begun.values()].reduce((sum, times) => sum + times - 1, 0)
    expect(repeated).toBeLessThanOrEqual(kills * (CONCURRENCY + CONCURRENCY))
    console.info(
      `sqlite: ${kills} kills, ${platform.acked.size} acknowledged, 0 lost, ${repeated} attempts repeated`,
    )
    space.remove()
  })

  itInFull('handles every event that was acknowledged after processing', async () => {
    const space = createWorkspace()
    const kills = scaled(50, 5)
    const { platform, last } = await killUnderLoad('after', kills, space)
    last.signal('SIGTERM')
    await last.exited
    const { done } = space.read()
    expect(platform.acked.size).toBeGreaterThan(kills)
    expect([...platform.acked].filter(id => !done.has(id))).toEqual([])
    space.remove()
  })

  itInFull('loses events with the memory inbox: this harness can fail', async () => {
    const space = createWorkspace()
    const kills = scaled(50, 5)
    const { platform, last } = await killUnderLoad('memory', kills, space)
    last.signal('SIGTERM')
    await last.exited
    const { done } = space.read()
    const lost = [...platform.acked].filter(id => !done.has(id))
    expect(lost.length).toBeGreaterThan(0)
    console.info(`memory: ${kills} kills, ${platform.acked.size} acknowledged, ${lost.length} lost`)
    space.remove()
  })
})

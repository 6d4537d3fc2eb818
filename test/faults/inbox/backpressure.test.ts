import { describe, expect, it } from 'vitest'
import { until } from '../../support/until.ts'
import { createPlatform } from './platform.ts'
import { type Mode, type ReceiverProcess, startReceiver } from './receiver-process.ts'
import { createWorkspace, scaled } from './workspace.ts'

describe('more events than can be handled', { timeout: 900_000 }, () => {
  for (const mode of ['sqlite', 'memory'] as const) {
    it(`refuses with 503 beyond its capacity, stays small, and handles all in the end: ${mode}`, async () => {
      const space = createWorkspace()
      // 5,000 sockets take Node about 100 MB whatever the receiver does with them: not what is asked here.
      const platform = createPlatform({ connections: 500 })
      const events = scaled(5000, 400)
      const capacity = events / 5
      const options = { capacity, concurrency: capacity / 2 }
      const workMs = scaled(1000, 100)
      const receiver = await startReceiver({ mode, ...space, workMs, options })
      const url = (): string => receiver.url
      await warmUp(mode, platform, url, Math.max(600, capacity))
      const idle = await receiver.ask<number>('rss')

      const peak = watchRss(receiver)
      const ids = Array.from({ length: events }, (_, index) => `evt_${mode}_${index}`)
      await Promise.all(ids.map(id => platform.deliver(url, id)))
      await until('every event is handled', () => isDone(space.read().done, ids), 300_000)
      const most = await peak.stop()
      const statuses = new Set(platform.attempts.map(({ status }) => status))
      expect([...statuses].filter(status => status !== 200 && status !== 202)).toEqual([503])
      // A bare node:http server under this load grows to 1.5 times its idle size by itself.
      expect(most / idle).toBeLessThan(2)
      console.info(`${mode}: RSS ${Math.round(idle / 1e6)} MB idle, ${Math.round(most / 1e6)} MB at most`)
      receiver.signal('SIGTERM')
      expect(await receiver.exited).toBe(0)
      platform.stop()
      space.remove()
    })
  }
})

type Platform = ReturnType<typeof createPlatform>

/** As many events as there may be at one time: what the runtime itself takes for that is not the question. */
async function warmUp(mode: Mode, platform: Platform, url: () => string, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, index) => `evt_warm_${mode}_${index}`)
  await Promise.all(ids.map(id => platform.deliver(url, id)))
}

function isDone(done: ReadonlyMap<string, number>, ids: readonly string[]): boolean {
  return ids.every(id => done.get(id) === 1)
}

/** Asks every 200 ms; answers the most it saw. */
function watchRss(receiver: ReceiverProcess): { stop(): Promise<number> } {
  let watching = true
  let most = 0
  const asking = (async () => {
    while (watching) {
      most = Math.max(most, await receiver.ask<number>('rss'))
      await new Promise(resolve => setTimeout(resolve, 200))
    }
  })()
  return {
    async stop() {
      watching = false
      await asking
      return most
    },
  }
}

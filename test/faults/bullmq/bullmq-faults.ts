import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { random } from '../../support/random.ts'
import { until } from '../../support/until.ts'
import type { Platform } from '../inbox/platform.ts'
import type { ReceiverProcess } from '../inbox/receiver-process.ts'
import { badHandlers } from './bad-handlers.ts'
import { allHandled, CONCURRENCY, cleanUp, type EngineName, idle, report, setUp } from './setting.ts'

const SLOW = 900_000

export interface FaultPlan {
  /** Factor for the load; `1` is the documented load. */
  readonly scale: number
  readonly engines: readonly EngineName[]
  /** Points at which a process is killed while it handles one event. */
  readonly points: readonly (keyof typeof POINTS)[]
}

export function bullmqFaults({ scale, engines, points }: FaultPlan): void {
  const scaled = (n: number) => Math.max(1, Math.round(n * scale))
  cleanUp()

  describe.each(engines)('%s', name => {
    test('nothing acknowledged is lost over random kills of the process', { timeout: SLOW }, async () => {
      const kills = scaled(name === 'PostgreSQL' ? 25 : 50)
      const setting = await setUp(name)
      let receiver: ReceiverProcess | undefined = await setting.start()
      const load = startLoad(setting.platform, () => receiver?.url)
      for (let i = 0; i < kills; i++) {
        await sleep(50 + random() * 450)
        const { signal, exited }: ReceiverProcess = receiver
        receiver = undefined
        signal('SIGKILL')
        await exited
        receiver = await setting.start()
      }
      await load.finish()
      const repeated = await allHandled(setting)
      expect(repeated).toBeLessThanOrEqual(kills * CONCURRENCY)
      const { size } = setting.platform.acked
      report(`${name}: ${kills} kills, ${size} acknowledged, 0 lost, ${repeated} ran twice`)
    })

    test('nothing acknowledged is lost over crashes of the server', { timeout: SLOW }, async () => {
      const crashes = scaled(10)
      const setting = await setUp(name)
      const { server, platform } = setting
      const receiver = await setting.start()
      const load = startLoad(platform, () => receiver.url)
      for (let i = 0; i < crashes; i++) {
        const goal = platform.acked.size + 50
        await until('the server is at work', () => platform.acked.size >= goal, 60_000)
        await server.kill()
        const noticed = platform.attempts.length + 8
        await until('the sender notices', () => platform.attempts.length >= noticed, 60_000)
        await server.restart()
      }
      await load.finish()
      const repeated = await allHandled(setting)
      const refused = platform.attempts.filter(({ status }) => status === 503)
      const slowest = Math.max(...refused.map(({ tookMs }) => tookMs))
      // In parallel with other tests, the sender waits for the processor too.
      expect(slowest).toBeLessThan(scale < 1 ? 3000 : 1200)
      const { size } = platform.acked
      report(
        `${name}: ${crashes} server crashes, ${size} acknowledged, 0 lost, ${repeated} ran twice, slowest 503 ${slowest} ms`,
      )
    })

    test('SIGTERM under load loses nothing, acknowledges nothing once the drain has begun, and ends in time', {
      timeout: SLOW,
    }, async () => {
      for (let i = 0; i < scaled(5); i++) {
        const setting = await setUp(name)
        const { platform, space } = setting
        const first = await setting.start({ workMs: 100 })
        let current = first
        const load = startLoad(platform, () => current.url)
        await until('it is at work', () => platform.acked.size >= 50, 60_000)
        const signalledAt = performance.now()
        first.signal('SIGTERM')
        expect(await first.exited).toBe(0)
        expect(performance.now() - signalledAt).toBeLessThan(12_000)
        current = await setting.start()
        await load.finish()
        const { drainingAt = 0 } = space.read()
        const toFirst = platform.attempts.filter(({ url }) => url === first.url)
        const late = toFirst.filter(({ startedAt }) => startedAt > drainingAt + 1)
        expect(late.filter(({ status = 0 }) => status >= 200 && status < 300)).toEqual([])
        expect(await allHandled(setting)).toBe(0)
      }
    })

    test.each(points)('an event survives a kill %s', { timeout: 60_000 }, async killAt => {
      const setting = await setUp(name)
      const { platform, space } = setting
      // The reply must be able to overtake the handler.
      const workMs = 150
      const first = await setting.start({ killAt, workMs })
      const status = await platform.once(first.url, 'evt_1')
      await first.exited
      const second = await setting.start({ workMs })
      const { acked, redelivery, begun, done } = POINTS[killAt]
      expect(status).toBe(acked ? 202 : undefined)
      expect(await platform.once(second.url, 'evt_1')).toBe(redelivery)
      await until('the event is handled', () => space.read().done.has('evt_1'))
      await idle(space)
      expect(begun).toContain(space.read().begun.get('evt_1'))
      expect(space.read().done.get('evt_1')).toBe(done)
    })

    badHandlers(name, scaled)
  })
}

/**
 * Expectations for each crash point: whether the sender has received 202 by then, the status of a redelivery, how often
 * the handler may begin, and how often it ends. An accepted job may have begun in a process that died a moment later.
 */
const POINTS = {
  'after-verify': { acked: false, redelivery: 202, begun: [1], done: 1 },
  'after-accept': { acked: false, redelivery: 200, begun: [1, 2], done: 1 },
  'before-reply': { acked: false, redelivery: 200, begun: [1, 2], done: 1 },
  'after-reply': { acked: true, redelivery: 200, begun: [1, 2], done: 1 },
  'mid-handler': { acked: true, redelivery: 200, begun: [2], done: 1 },
  'before-complete': { acked: true, redelivery: 200, begun: [2], done: 2 },
  'after-complete': { acked: true, redelivery: 200, begun: [1], done: 1 },
}
export const ALL_POINTS = Object.keys(POINTS) as (keyof typeof POINTS)[]

/** Sends new events continuously over a few connections, and repeats each until it is acknowledged. */
function startLoad(platform: Platform, url: () => string | undefined): { finish(): Promise<unknown> } {
  let sending = true
  let count = 0
  const senders = Array.from({ length: 8 }, async () => {
    while (sending) {
      await platform.deliver(url, `evt_${count++}`)
      await sleep(5)
    }
  })
  return {
    finish() {
      sending = false
      return Promise.all(senders)
    },
  }
}

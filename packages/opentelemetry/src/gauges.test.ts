import { afterEach, expect, it, vi } from 'vitest'
import { setUp } from '../test/telemetry.ts'

const DEPTHS = ['ackhook.pending', 'ackhook.active', 'ackhook.dead', 'ackhook.oldest_pending']
const STATS = { pending: 1, active: 2, dead: 3, oldestPendingMs: 4000 }

afterEach(() => {
  vi.useRealTimers()
})

it('gauges report that the inbox is down, and repeat no earlier depth', async () => {
  const { telemetry, collect } = setUp()
  let isDown = true
  const stats = async () => {
    if (isDown) throw new Error('ECONNREFUSED')
    return STATS
  }
  telemetry.watch({ stats }, { attributes: { endpoint: 'a' } })
  const read = async () => {
    const metrics = await collect()
    const values = (name: string) => metrics(name).map(({ value }) => value)
    return [values('ackhook.inbox.up'), ...DEPTHS.map(values)]
  }
  expect(await read()).toEqual([[0], [], [], [], []])
  isDown = false
  expect(await read()).toEqual([[1], [1], [2], [3], [4]])
  isDown = true
  expect(await read()).toEqual([[0], [Number.NaN], [Number.NaN], [Number.NaN], [Number.NaN]])
  isDown = false
  expect(await read()).toEqual([[1], [1], [2], [3], [4]])
})

it('gauges report an inbox that does not reply as down, and delay no scrape', async () => {
  const { telemetry, collect } = setUp()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
  let asked = () => {}
  const isAsked = new Promise<void>(resolve => (asked = resolve))
  telemetry.watch({
    stats() {
      asked()
      return new Promise(() => {})
    },
  })
  const collecting = collect()
  await isAsked
  await vi.advanceTimersByTimeAsync(3000)
  const metrics = await collecting
  expect(metrics('ackhook.inbox.up')[0]?.value).toBe(0)
})

import { expect, test } from 'vitest'
import { inFull } from '../../../test/support/in-full.ts'
import { startSwitchingProxy } from '../../../test/support/switching-proxy.ts'
import { atOnce, count, ENGINES, fleet } from './fleet.ts'
import { until } from './parts.ts'

test.concurrent.for(ENGINES)(
  'the events of a process that is cut off from %s for three leases run again elsewhere, once it has withdrawn them',
  { timeout: 240_000 },
  async ([, start], context) => {
    const { engine, steps, ran, process, accept } = await fleet(start, context)
    const proxy = await startSwitchingProxy(engine.port)
    context.onTestFinished(() => proxy.stop())
    const leaseMs = inFull(11_000, 2000)
    const settings = { lease: `${leaseMs}ms`, concurrency: 4, workMs: 4 * leaseMs } as const
    const cutOff = await process('a', proxy.port, settings)
    const ids = await accept(4)
    await until(() => count(steps(), 'begin') === 4)
    await process('b', engine.port, { ...settings, workMs: 100 })
    const cutAt = Date.now()
    proxy.switchTo(1)
    proxy.silence()
    await until(() => Date.now() - cutAt > 3 * leaseMs && ran(ids), 120_000)
    proxy.switchTo(engine.port)
    expect(atOnce(steps())).toEqual([])
    expect(count(steps(), 'begin')).toBe(ids.length + count(steps(), 'lost'))
    const [last] = await accept(1)
    await until(() => ran([last!]), 60_000)
    cutOff.kill('SIGKILL')
  },
)

test.concurrent.for(ENGINES)(
  'whatever the clocks of a process do, no event on %s runs in two processes at once, or twice',
  { timeout: 240_000 },
  async ([, start], context) => {
    const { engine, steps, ran, process, accept } = await fleet(start, context)
    const ids = await accept(inFull(200, 24))
    const hourMs = 3_600_000
    const jumps = [
      ['wall', hourMs],
      ['wall', -2 * hourMs],
      ['monotonic', hourMs],
      ['wall', hourMs],
    ] as const
    const settings = { lease: inFull('11s', '4s'), concurrency: 2, workMs: inFull(2000, 500) } as const
    const jumping = await process('a', engine.port, { ...settings, jumps })
    await process('b', engine.port, settings)
    for (const n of jumps.keys()) {
      await until(() => steps().filter(({ name, what }) => name === 'a' && what === 'end').length > n)
      jumping.kill('SIGUSR2')
    }
    await until(() => ran(ids), 120_000)
    expect(atOnce(steps())).toEqual([])
    expect(count(steps(), 'begin')).toBe(ids.length + count(steps(), 'lost'))
  },
)

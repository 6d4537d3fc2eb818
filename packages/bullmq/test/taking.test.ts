import { expect, test } from 'vitest'
import { inFull } from '../../../test/support/in-full.ts'
import { startSwitchingProxy } from '../../../test/support/switching-proxy.ts'
import { atOnce, count, ENGINES, fleet } from './fleet.ts'
import { until } from './parts.ts'

// Taking so many events one after the other lasts longer than a lease.
test.concurrent.for(ENGINES)(
  'on a distant %s, an event begins as soon as it is taken, and none runs in two processes at once',
  { timeout: 240_000 },
  async ([, start], context) => {
    const { engine, steps, ran, process, accept } = await fleet(start, context)
    const proxy = await startSwitchingProxy(engine.port, { delayMs: 50 })
    context.onTestFinished(() => proxy.stop())
    const ids = await accept(inFull(600, 120))
    const settings = {
      lease: inFull('11s', '4s'),
      concurrency: inFull(128, 60),
      workMs: inFull(3000, 1000),
    } as const
    await Promise.all(['a', 'b'].map(name => process(name, proxy.port, settings)))
    await until(() => ran(ids), 200_000)
    const [first] = steps().filter(({ what }) => what === 'begin')
    const startedAt = Math.min(...steps().flatMap(({ what, at }) => (what === 'started' ? [at] : [])))
    // Half as long as it takes to fill the process.
    expect(first!.at - startedAt).toBeLessThan(settings.concurrency * 50)
    expect(atOnce(steps())).toEqual([])
    // A process that stalls for longer than a lease loses it, and says so.
    expect(count(steps(), 'begin')).toBe(ids.length + count(steps(), 'lost'))
  },
)

test.concurrent.for(ENGINES)(
  'with half-open connections to %s, no event runs in two processes at once',
  { timeout: 240_000 },
  async ([, start], context) => {
    const { engine, steps, ran, process, accept } = await fleet(start, context)
    const proxies = await Promise.all([0, 1].map(() => startSwitchingProxy(engine.port, { delayMs: 10 })))
    for (const proxy of proxies) context.onTestFinished(() => proxy.stop())
    const ids = await accept(inFull(600, 100))
    const settings = { lease: inFull('11s', '4s'), concurrency: 8, workMs: 200 } as const
    await Promise.all(proxies.map(({ port }, i) => process(`p${i}`, port, settings)))
    const endedBy = (name: string) => steps().filter(step => step.what === 'end' && step.name === name).length
    await until(() => endedBy('p0') >= 10)
    proxies[0]!.silence()
    const silencedAt = Date.now()
    await until(() => ran(ids), 200_000)
    expect(atOnce(steps())).toEqual([])
    await accept(20)
    // The silenced process handles events again.
    await until(async () => {
      if (steps().some(({ name, what, at }) => name === 'p0' && what === 'begin' && at > silencedAt + 2000))
        return true
      await accept(4)
      return false
    }, 60_000)
  },
)

test.concurrent.for(ENGINES)(
  'a process that was stopped for longer than its lease begins nothing that another has handled on %s',
  { timeout: 240_000 },
  async ([name, start], context) => {
    const serialize = name === 'PostgreSQL'
    const { engine, steps, ran, process, accept } = await fleet(start, context)
    const proxy = await startSwitchingProxy(engine.port, { delayMs: 50 })
    context.onTestFinished(() => proxy.stop())
    const settings = { lease: inFull('11s', '2s'), concurrency: 1, serialize } as const
    const ids = await accept(30, serialize)
    const stopped = await process('a', proxy.port, settings)
    await until(() => steps().filter(({ what }) => what === 'end').length >= 5)
    // Its request to record an end and to take the next event is on the way.
    stopped.kill('SIGSTOP')
    const b = await process('b', engine.port, settings)
    await until(() => ran(ids), 120_000)
    await new Promise(resolve => setTimeout(resolve, inFull(7000, 0)))
    b.kill('SIGTERM')
    const resumedAt = Date.now()
    stopped.kill('SIGCONT')
    const [last] = await accept(1, serialize)
    await until(() => ran([last!]), 60_000)
    const begunAfter = steps().filter(
      step => step.what === 'begin' && step.name === 'a' && step.at >= resumedAt,
    )
    expect(begunAfter.map(({ id }) => id)).toEqual([last])
    if (!serialize) return
    const order = steps().flatMap(({ what, id }) => (what === 'begin' ? [id] : []))
    expect([...new Set(order)]).toEqual([...ids, last])
  },
)

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BullmqInboxOptions } from '@ackhook/bullmq'
import { expect, type TestContext, test } from 'vitest'
import { inFull } from '../../../test/support/in-full.ts'
import { startSwitchingProxy } from '../../../test/support/switching-proxy.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, unique, until } from './parts.ts'

const TAKING = fileURLToPath(new URL('./fixtures/taking.mjs', import.meta.url))

const ENGINES = [
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const

interface Step {
  readonly name: string
  readonly what: 'started' | 'begin' | 'end'
  readonly id: string
  readonly at: number
}

/** Processes that handle one queue of a server, each through its own connections to it. */
async function fleet(start: () => Promise<TestEngine>, { onTestFinished: cleanup }: TestContext) {
  const engine = await start()
  cleanup(() => engine.stop())
  const folder = mkdtempSync(join(tmpdir(), 'taking-'))
  cleanup(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'steps')
  const queue = unique('q')
  const steps = (): readonly Step[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter(line => line.endsWith('}'))
          .map(line => JSON.parse(line))
      : []
  const ran = (ids: readonly string[]) => {
    const ended = new Set(steps().flatMap(({ what, id }) => (what === 'end' ? [id] : [])))
    return ids.every(id => ended.has(id))
  }

  return {
    engine,
    steps,
    ran,
    async process(name: string, port: number, { lease, ...settings }: FleetSettings): Promise<ChildProcess> {
      const options: BullmqInboxOptions = { ...engine.optionsAt(port), queue, lease }
      const args = JSON.stringify({ options, name, file, ...settings })
      const child = spawn(process.execPath, [TAKING, args], { stdio: 'inherit' })
      cleanup(() => void child.kill('SIGKILL'))
      await until(() => steps().some(step => step.what === 'started' && step.name === name))
      return child
    },
    /** Accepts this many events, all of one key if they run in order. */
    async accept(count: number, serialize = false): Promise<string[]> {
      const inbox = engine.inbox(queue)
      const policy = aPolicy({ concurrency: 0, serialize })
      const starts = async () => inbox.start(async () => COMPLETED, policy)
      await until(() => starts().then(isDone, () => false))
      const deliveries = Array.from({ length: count }, (_, i) =>
        aDelivery(serialize ? { order: { key: 'one', createdAt: 1_700_000_000_000 + i } } : {}),
      )
      for (const delivery of deliveries)
        await until(async () => (await inbox.accept(delivery)).outcome !== 'unavailable')
      await inbox.close(1000)
      return deliveries.map(({ id }) => id)
    },
  }
}

interface FleetSettings {
  readonly lease: NonNullable<BullmqInboxOptions['lease']>
  readonly concurrency: number
  readonly serialize?: boolean
  readonly workMs?: number
}

function isDone(): boolean {
  return true
}

/** Events that ran in two processes at the same moment. */
function atOnce(steps: readonly Step[]): string[] {
  const found: string[] = []
  const running = new Map<string, Set<string>>()
  for (const { name, what, id } of steps) {
    const names = running.get(id) ?? new Set()
    running.set(id, names)
    if (what === 'begin' && names.size > 0 && !names.has(name)) found.push(id)
    if (what === 'begin') names.add(name)
    else names.delete(name)
  }
  return found
}

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
    // A machine that stalls for longer than a lease loses one now and then: the event runs again, and never at once.
    expect(steps().filter(({ what }) => what === 'begin').length).toBeLessThan(1.1 * ids.length)
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

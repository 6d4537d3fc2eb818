import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { migrate } from '../../bullmq/engines.ts'
import { unique } from '../../bullmq/parts.ts'
import { startPostgres } from '../../support/postgres.ts'
import { startRedis } from '../../support/redis.ts'
import { until } from '../../support/until.ts'
import { deliver, type Load, startLoad } from './load.ts'
import {
  createLedger,
  type Ledger,
  type POINTS,
  type ReceiverSettings,
  startReceiver,
} from './receiver-process.ts'

const CONCURRENCY = 8
const SLOW = 600_000

interface Server {
  readonly engine: ReceiverSettings['engine']
  kill(): Promise<void>
  restart(): Promise<void>
}

const closing: (() => unknown)[] = []

async function redis(): Promise<Server> {
  const server = await startRedis({ config: { appendonly: 'yes', appendfsync: 'always' } })
  closing.push(() => server.stop())
  const { kill, restart } = server
  return { engine: { connection: server.url }, kill: () => kill(), restart }
}

async function postgres(): Promise<Server> {
  const server = await startPostgres()
  closing.push(() => server.stop())
  await migrate(server.url)
  const { kill, restart } = server
  return { engine: { postgres: server.url }, kill: () => kill('SIGQUIT'), restart }
}

export interface FaultPlan {
  /** `1` is the load of which the documentation speaks. */
  readonly scale: number
  readonly engines: readonly (keyof typeof ENGINES)[]
  /** Where a process is killed while it handles one event. */
  readonly points: readonly (typeof POINTS)[number][]
}

export const ENGINES = { 'Redis, appendfsync always': redis, PostgreSQL: postgres } as const

export function bullmqFaults({ scale, engines, points }: FaultPlan): void {
  const scaled = (n: number) => Math.max(1, Math.round(n * scale))
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  describe.each(engines)('%s', name => {
    const start = ENGINES[name]

    test(
      'nothing acknowledged is lost over random kills of the process',
      async () => {
        const kills = scaled(name === 'PostgreSQL' ? 25 : 50)
        const { settings, ledger } = await setting(start)
        let receiver = await startReceiver(settings)
        const load = startLoad({ url: () => receiver.url, lanes: 8, everyMs: 5 })
        for (let i = 0; i < kills; i++) {
          await sleep(50 + Math.random() * 450)
          await receiver.kill()
          receiver = await startReceiver(settings)
        }
        closing.push(() => receiver.kill())
        await load.finish()
        const { duplicates } = await allHandled(load, ledger)
        expect(duplicates).toBeLessThanOrEqual(kills * CONCURRENCY)
        report(
          `${name}: ${kills} kills, ${load.acknowledged.size} acknowledged, 0 lost, ${duplicates} ran twice`,
        )
      },
      SLOW,
    )

    test(
      'nothing acknowledged is lost over crashes and restarts of the server',
      async () => {
        const crashes = scaled(10)
        const { server, settings, ledger } = await setting(start)
        const receiver = await startReceiver(settings)
        closing.push(() => receiver.kill())
        const load = startLoad({ url: () => receiver.url, lanes: 8, everyMs: 5 })
        for (let i = 0; i < crashes; i++) {
          const goal = load.acknowledged.size + 50
          await until('the server is at work', () => load.acknowledged.size >= goal, 60_000)
          await server.kill()
          const heard = load.replies.length + 8
          await until('the sender hears of it', () => load.replies.length >= heard, 60_000)
          await server.restart()
        }
        await load.finish()
        const { duplicates } = await allHandled(load, ledger)
        const slowest = Math.max(
          ...load.replies.filter(({ status }) => status === 503).map(({ ms }) => ms),
          0,
        )
        expect(slowest).toBeLessThan(2000)
        report(
          `${name}: ${crashes} server crashes, ${load.acknowledged.size} acknowledged, 0 lost, ${duplicates} ran twice, slowest 503 ${slowest.toFixed(0)} ms`,
        )
      },
      SLOW,
    )

    test(
      'SIGTERM under load loses nothing, acknowledges nothing after the drain began, and ends in time',
      async () => {
        const { settings, ledger } = await setting(start)
        for (let i = 0; i < scaled(5); i++) {
          const first = await startReceiver({ ...settings, handlerMs: 100 })
          let current = first
          const load = startLoad({ url: () => current.url, lanes: 8, everyMs: 5 })
          await until('it is at work', () => load.acknowledged.size >= 50, 60_000)
          const ended = first.kill('SIGTERM')
          await first.draining
          const drainingAt = performance.now()
          expect(await ended).toBe(0)
          expect(performance.now() - drainingAt).toBeLessThan(12_000)
          const late = load.replies.filter(
            ({ status, sentAt }) => status < 300 && status >= 200 && sentAt > drainingAt,
          )
          expect(late).toEqual([])
          current = await startReceiver(settings)
          await load.finish()
          const { duplicates } = await allHandled(load, ledger)
          expect(duplicates).toBe(0)
          await current.kill()
        }
      },
      SLOW,
    )

    test.each(points)(
      'an event survives a kill %s',
      async dieAt => {
        const { settings, ledger } = await setting(start)
        const first = await startReceiver({ ...settings, dieAt })
        const status = await deliver(first.url, 'evt_1')
        await first.ended
        const second = await startReceiver(settings)
        closing.push(() => second.kill())
        const repeated = status === 0 ? await deliver(second.url, 'evt_1') : undefined
        await until('the event is handled', () => ledger.count('done').size === 1)
        await idle(ledger)
        const { heard, begun, done } = EXPECTED[dieAt]
        if (heard !== undefined) expect(status).toBe(heard ? 202 : 0)
        if (status === 0) expect(repeated).toBe(dieAt === 'after verify' ? 202 : 200)
        expect(begun).toContain(ledger.count('begun').get('evt_1'))
        expect(ledger.count('done').get('evt_1')).toBeLessThanOrEqual(done)
      },
      60_000,
    )
  })

  async function setting(start: () => Promise<Server>) {
    const server = await start()
    const ledger = createLedger()
    closing.push(() => ledger.remove())
    const { engine } = server
    return {
      server,
      ledger,
      settings: { engine, queue: unique('f'), ledger: ledger.path, concurrency: CONCURRENCY },
    }
  }
}

/**
 * For each point of a crash: whether the sender has heard `202` by then (`undefined`: the handler may be faster or
 * slower than the reply), and how often the handler may begin. A job that was accepted may have begun in the
 * process that died a moment later.
 */
const EXPECTED: Readonly<
  Record<(typeof POINTS)[number], { heard: boolean | undefined; begun: number[]; done: number }>
> = {
  'after verify': { heard: false, begun: [1], done: 1 },
  'after accept': { heard: false, begun: [1, 2], done: 1 },
  'before reply': { heard: false, begun: [1, 2], done: 1 },
  'after reply': { heard: true, begun: [1, 2], done: 1 },
  'mid-handler': { heard: undefined, begun: [2], done: 1 },
  'before complete': { heard: undefined, begun: [2], done: 2 },
  'after complete': { heard: true, begun: [1], done: 1 },
}

async function allHandled(load: Load, ledger: Ledger): Promise<{ duplicates: number }> {
  const missing = () => {
    const done = ledger.count('done')
    return [...load.acknowledged].filter(id => !done.has(id))
  }
  await until('every acknowledged event is handled', () => missing().length === 0, 60_000).catch(error => {
    throw new Error(`lost: ${missing().join(', ')}`, { cause: error })
  })
  await idle(ledger)
  const begun = ledger.count('begun')
  return { duplicates: [...begun.values()].reduce((sum, n) => sum + n - 1, 0) }
}

/** No run begins for as long as a lease takes to lapse and be noticed. */
async function idle(ledger: Ledger): Promise<void> {
  const size = () =>
    ledger.count('begun').size + [...ledger.count('begun').values()].reduce((a, b) => a + b, 0)
  for (let before = -1, now = size(); before !== now; now = size()) {
    before = now
    await sleep(2500)
  }
}

function report(line: string): void {
  process.stdout.write(`${line}\n`)
}

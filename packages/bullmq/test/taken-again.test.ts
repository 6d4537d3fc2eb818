import type { Observation } from '@ackhook/core'
import type { AttemptResult, ProcessEvent } from '@ackhook/core/spi'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createEngine } from '../src/create-engine.ts'
import type { Engine, QueueWorker } from '../src/engine/engine.ts'
import type { TakenJob } from '../src/engine/fetching.ts'
import { LockTokens } from '../src/engine/lock-token.ts'
import { type BullmqInboxOptions, resolveOptions } from '../src/options.ts'
import { MinuteCounter } from '../src/processing/minute-counter.ts'
import { QueueConsumer } from '../src/processing/queue-consumer.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, unique, until } from './parts.ts'

const engines: Partial<Record<'Redis' | 'PostgreSQL', TestEngine>> = {}

beforeAll(async () => {
  const [Redis, PostgreSQL] = await Promise.all([redisEngine(), postgresEngine()])
  Object.assign(engines, { Redis, PostgreSQL })
}, 60_000)
afterAll(() => Promise.all(Object.values(engines).map(engine => engine.stop())))

const BOTH = ['Redis', 'PostgreSQL'] as const

/** A queue with one event, and what expires the lock of its job. */
async function queueOf(server: TestEngine, lease: NonNullable<BullmqInboxOptions['lease']>) {
  const name = unique('q')
  const receiver = server.inbox(name)
  await receiver.start(async () => COMPLETED, aPolicy({ concurrency: 0 }))
  const { key } = aDelivery()
  await receiver.accept(aDelivery({ key }))
  await receiver.close(1000)
  const resolved = resolveOptions({ ...server.options, queue: name, lease })
  const engine = await createEngine(resolved)
  onTestFinished(async () => {
    await engine.close()
    await engine.disconnect()
  })
  await engine.ready()
  return { engine, resolved, expire: () => server.expire(name, `e-${key}`) }
}

test.for(BOTH)('%s tells a later take of a job by this process from one by another', async name => {
  const { engine, resolved, expire } = await queueOf(engines[name]!, '30s')
  const worker = engine.newWorker({ limits: resolved.limits, maxStalledCount: 99 })
  onTestFinished(() => worker.close())
  await worker.waitUntilReady()
  const taken = async (tokens: LockTokens): Promise<TakenJob> => {
    for (;;) {
      const found = await worker.take(tokens.next())
      if (found !== undefined && 'job' in found) return found
    }
  }
  const [ours, theirs] = [new LockTokens(), new LockTokens()]
  const first = await taken(ours)
  expect(await worker.relock(first.job, first.token, 30_000)).toBe('relocked')
  await expire()
  await taken(ours)
  expect(await worker.relock(first.job, first.token, 30_000)).toBe('own')
  await expire()
  await taken(theirs)
  expect(await worker.relock(first.job, first.token, 30_000)).toBe('taken')
})

/** A consumer whose requests go through `change`. */
async function consumerOn(
  server: TestEngine,
  change: (worker: QueueWorker) => QueueWorker,
  limiter?: { readonly max: number; readonly duration: number },
) {
  const { engine, resolved, expire } = await queueOf(server, '2s')
  const seen: Observation[] = []
  const policy = aPolicy({ concurrency: 2, observe: one => void seen.push(one) })
  const ends: ((result: AttemptResult) => void)[] = []
  const work: ProcessEvent = () => new Promise(resolve => void ends.push(resolve))
  const newWorker: Engine['newWorker'] = settings => change(engine.newWorker(settings))
  const changed = new Proxy(engine, {
    get: (target, key) => {
      const member = key === 'newWorker' ? newWorker : Reflect.get(target, key)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const consumer = new QueueConsumer(changed, work, policy, {
    limits: resolved.limits,
    limiter,
    minutes: new MinuteCounter(async () => {}),
    onError: () => {},
  })
  onTestFinished(() => consumer.drain(0))
  await consumer.ready()
  await until(() => ends.length === 1)
  const kinds = () => new Set(seen.map(({ kind }) => kind))
  const isOver = async () => (await engine.countUnfinished(1)) === 0
  return { ends, kinds, expire, isOver, consumer }
}

class Signal {
  give!: () => void
  readonly given = new Promise<void>(resolve => {
    this.give = resolve
  })
}

test.for(BOTH)(
  'an attempt that asks %s before its process knows that it has taken the event again goes on',
  async name => {
    const [isTaken, isAsked] = [new Signal(), new Signal()]
    let taken = 0
    let isExpired = false
    const { ends, kinds, expire, isOver } = await consumerOn(engines[name]!, worker => {
      const { take, extendJobLocks, relock } = worker
      return Object.assign(worker, {
        // The reply to the second take is late.
        take: async (...args: Parameters<typeof take>) => {
          const found = await take(...args)
          if (found === undefined || !('job' in found) || ++taken === 1) return found
          isTaken.give()
          await isAsked.given
          return found
        },
        extendJobLocks: async (...args: Parameters<typeof extendJobLocks>) => {
          if (isExpired) await isTaken.given
          return extendJobLocks(...args)
        },
        relock: async (...args: Parameters<typeof relock>) => {
          const relocked = await relock(...args)
          // The other reply is read in a later turn.
          setImmediate(() => isAsked.give())
          return relocked
        },
      })
    })
    isExpired = true
    await expire()
    await isAsked.given
    ends[0]!(COMPLETED)
    await until(isOver)
    expect(ends.length).toBe(1)
    expect(kinds()).toEqual(new Set())
  },
)

test.for(BOTH)(
  'an end that %s has not recorded when the process takes the event again is recorded then, and the event does not run twice',
  async name => {
    let taken = 0
    const { ends, kinds, expire, isOver } = await consumerOn(engines[name]!, worker => {
      const { take } = worker
      return Object.assign(worker, {
        take: async (...args: Parameters<typeof take>) => {
          const found = await take(...args)
          if (found === undefined || !('job' in found)) return found
          // Records under the first lock do not arrive.
          if (++taken === 1)
            found.job.moveToCompleted = async () => {
              throw new Error('read ECONNRESET')
            }
          return found
        },
      })
    })
    ends[0]!(COMPLETED)
    await until(() => kinds().has('store_down'))
    await expire()
    await until(isOver)
    expect(taken).toBe(2)
    expect(ends.length).toBe(1)
    expect(kinds()).toEqual(new Set(['store_down']))
  },
)

test.for(BOTH)(
  'a process that a rate limit on %s holds back does not ask until it ends, nor does a drain wait for that',
  async name => {
    const found: (string | undefined)[] = []
    const { ends, isOver, consumer } = await consumerOn(
      engines[name]!,
      worker => {
        const { take } = worker
        return Object.assign(worker, {
          take: async (...args: Parameters<typeof take>) => {
            const taken = await take(...args)
            found.push(taken && Object.keys(taken)[0])
            return taken
          },
        })
      },
      { max: 1, duration: 600_000 },
    )
    ends[0]!(COMPLETED)
    await until(isOver)
    await until(() => found.includes('limitedMs'))
    const asked = found.length
    const begunAt = performance.now()
    await until(() => performance.now() - begunAt > 1000)
    expect(found.length).toBe(asked)
    await consumer.drain(20_000)
    expect(performance.now() - begunAt).toBeLessThan(15_000)
  },
)

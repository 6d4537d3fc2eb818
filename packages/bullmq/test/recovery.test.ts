import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BullmqInboxOptions } from '@ackhook/bullmq'
import { describe, type OnTestFinishedHandler, test } from 'vitest'
import { ownTime } from '../../../test/support/own-time.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

const FIXTURE = fileURLToPath(new URL('fixtures/attempts.mjs', import.meta.url))
const PATIENT = { timeout: 120_000 }
type Cleanup = (close: OnTestFinishedHandler) => void
interface Block {
  readonly ms?: number
  readonly until?: string
}

/** Starts a process that handles the queue's events. */
async function aWorker(options: BullmqInboxOptions, cleanup: Cleanup, block?: Block) {
  const env = { ...process.env, NODE_OPTIONS: '', ATTEMPTS: JSON.stringify({ engine: options, block }) }
  const reports: string[] = []
  let child: ChildProcess
  const begin = (): void => {
    child = fork(FIXTURE, [], { env, execArgv: [] })
    child.on('message', report => void reports.push(String(report)))
    // Six processes start at once: on a busy machine one may need longer than a start may take, and is started again.
    child.on('exit', code => {
      if (code !== 1 || reports.includes('started')) return
      reports.length = 0
      begin()
    })
  }
  begin()
  cleanup(() => void child.kill('SIGKILL'))
  await until(() => reports.includes('started'), 60_000)
  return {
    reports,
    kill: () => void child.kill('SIGKILL'),
    finish: () => void child.send('finish'),
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    times: (report: string) => reports.filter(one => one === report).length,
  }
}

/** Opens a queue with an inbox that only receives, so that the test decides which process takes an event. */
async function aQueue(start: () => Promise<TestEngine>, cleanup: Cleanup) {
  const engine = await start()
  cleanup(() => engine.stop())
  const queue = unique('q')
  // Sets no lease: the tests rely on its default.
  const options = { ...engine.options, queue }
  const inbox = engine.inbox(queue)
  cleanup(async () => void (await inbox.close(1000)))
  await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
  /** Returns whether these are the current counts. A starved machine may not count in time. */
  const holds = async (pending: number, active: number) => {
    try {
      const stats = await inbox.stats()
      return stats.pending === pending && stats.active === active
    } catch {
      return false
    }
  }
  return { engine, options, inbox, holds }
}

test(
  'after a stop of the whole machine, with Redis back a little later, a process runs no event twice at once',
  PATIENT,
  async ({ expect, onTestFinished: cleanup }) => {
    const { engine, options, inbox, holds } = await aQueue(redisEngine, cleanup)
    const stopped = await aWorker({ ...options, lease: '4s' }, cleanup)
    for (let i = 0; i < 12; i++) await inbox.accept(aDelivery())
    await until(() => stopped.times('begun') === 12)
    stopped.signal('SIGSTOP')
    engine.pause?.()
    await new Promise(resolve => setTimeout(resolve, 6000))
    stopped.signal('SIGCONT')
    await new Promise(resolve => setTimeout(resolve, 2000))
    engine.resume?.()
    await until(async () => (await inbox.accept(aDelivery())).outcome === 'accepted')
    await until(() => stopped.times('begun') > 12)
    await until(() => holds(0, 13))
    await until(() => {
      stopped.finish()
      return holds(0, 0)
    })
    // Redis was away for longer than it is asked: what lost its lease by the process's own clocks begins again.
    expect(stopped.times('begun')).toBe(13 + stopped.times('lease_lost'))
    expect(stopped.times('twice at once')).toBe(0)
  },
)

describe.concurrent.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)('on %s', (_, start) => {
  test(
    'the events of a killed process run again within 15 s',
    PATIENT,
    async ({ expect, onTestFinished: cleanup }) => {
      const { options, inbox } = await aQueue(start, cleanup)
      const dying = await aWorker(options, cleanup)
      await inbox.accept(aDelivery({ key: 'killed' }))
      await until(() => dying.times('begun') === 1)
      const other = await aWorker(options, cleanup)
      dying.kill()
      const { ms } = await ownTime(() => until(() => other.times('begun') === 1))
      expect(ms).toBeLessThan(15_000)
    },
  )

  test(
    'the events of a process stopped for longer than a lease continue, and none runs twice at once',
    PATIENT,
    async ({ expect, onTestFinished: cleanup }) => {
      const { options, inbox, holds } = await aQueue(start, cleanup)
      const stopped = await aWorker({ ...options, lease: '2s' }, cleanup)
      for (let i = 0; i < 12; i++) await inbox.accept(aDelivery())
      await until(() => stopped.times('begun') === 12)
      stopped.signal('SIGSTOP')
      await new Promise(resolve => setTimeout(resolve, 4000))
      stopped.signal('SIGCONT')
      // The process works again: it begins one more event after any others that it takes.
      await inbox.accept(aDelivery())
      await until(() => stopped.times('begun') > 12)
      await until(() => holds(0, 13))
      // A handler that has just begun does not listen yet.
      await until(() => {
        stopped.finish()
        return holds(0, 0)
      })
      expect(stopped.times('begun')).toBe(13)
      expect([stopped.times('lease_lost'), stopped.times('store_down')]).toEqual([0, 0])
    },
  )

  test(
    'after a stop of two processes for longer than a lease, neither runs an event twice at once',
    PATIENT,
    async ({ expect, onTestFinished: cleanup }) => {
      const { options, inbox, holds } = await aQueue(start, cleanup)
      const lease = { ...options, lease: '4s' } as const
      const workers = [await aWorker(lease, cleanup), await aWorker(lease, cleanup)]
      const begun = () => workers.reduce((sum, { times }) => sum + times('begun'), 0)
      for (let i = 0; i < 24; i++) await inbox.accept(aDelivery())
      await until(() => begun() === 24)
      for (const { signal } of workers) signal('SIGSTOP')
      await new Promise(resolve => setTimeout(resolve, 6000))
      for (const { signal } of workers) signal('SIGCONT')
      // The processes work again: they begin one more event after any others that they take.
      await inbox.accept(aDelivery())
      await until(() => holds(0, 25), 60_000)
      await until(async () => {
        for (const { finish } of workers) finish()
        return holds(0, 0)
      }, 60_000)
      expect(workers.map(({ times }) => times('twice at once'))).toEqual([0, 0])
    },
  )

  test(
    'a process whose event loop is blocked for 8 s keeps its events',
    PATIENT,
    async ({ expect, onTestFinished: cleanup }) => {
      const { options, inbox, holds } = await aQueue(start, cleanup)
      const blocked = await aWorker(options, cleanup, { ms: 8000 })
      await inbox.accept(aDelivery())
      await until(() => blocked.times('begun') === 1)
      const other = await aWorker(options, cleanup)
      await until(() => blocked.times('ended') === 1)
      await until(() => holds(0, 0))
      expect([blocked.times('begun'), other.times('begun')]).toEqual([1, 0])
      expect([blocked.times('store_down'), blocked.times('lease_lost')]).toEqual([0, 0])
    },
  )

  test(
    'the event of a process blocked for longer runs elsewhere, and its late result is refused',
    PATIENT,
    async ({ expect, onTestFinished: cleanup }) => {
      const { options, inbox, holds } = await aQueue(start, cleanup)
      const folder = mkdtempSync(join(tmpdir(), 'ackhook-blocked-'))
      cleanup(() => rmSync(folder, { recursive: true }))
      const ends = join(folder, 'ends')
      const blocked = await aWorker({ ...options, lease: '2s' }, cleanup, { until: ends })
      await inbox.accept(aDelivery())
      await until(() => blocked.times('begun') === 1)
      const other = await aWorker({ ...options, lease: '2s' }, cleanup)
      await until(() => other.times('begun') === 1)
      writeFileSync(ends, '')
      await until(() => blocked.times('ended') === 1)
      await until(() => blocked.times('lease_lost') > 0)
      await until(() => holds(0, 1))
      other.finish()
      await until(() => holds(0, 0))
      expect([blocked.times('begun'), other.times('begun')]).toEqual([1, 1])
    },
  )
})

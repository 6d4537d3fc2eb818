import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bullmqInbox } from '@ackhook/bullmq'
import { memoryInbox, memoryStore } from '@ackhook/core'
import { eventKey } from '@ackhook/core/spi'
import { sqliteInbox } from '@ackhook/sqlite'
import { seededRandom } from '@ackhook/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { flakyStore } from '../../support/state-machine/flaky-store.ts'
import { type MachineTarget, StateMachine } from '../../support/state-machine/machine.ts'

/** Seed of a single run. A failure names its seed: set it here to run only that one. */
const ONLY_SEED = process.env['STATE_MACHINE_SEED']
const isPart = process.env['FAULT_SCALE'] !== undefined
const runs = (all: number, part: number): number[] =>
  ONLY_SEED === undefined
    ? Array.from({ length: isPart ? part : all }, (_, seed) => seed)
    : [Number(ONLY_SEED)]

async function play(target: MachineTarget, seed: number): Promise<StateMachine> {
  const machine = new StateMachine(target, seededRandom(seed))
  await machine.run()
  expect(machine.ledger.violations, `seed ${seed}`).toEqual([])
  return machine
}

/** Plays both modes, with and without order, with a reliable and a failing store. */
async function playInMemory(seed: number): Promise<void> {
  vi.useFakeTimers()
  const random = seededRandom(seed + 1_000_000)
  vi.spyOn(Math, 'random').mockImplementation(random)
  const reliable = seed % 3 === 0
  const memory = memoryStore()
  const store = flakyStore(memory, random)
  store.isFlaky = !reliable
  const machine = await play(
    {
      createInbox: () => memoryInbox({ store, lease: reliable ? '60s' : '3s' }),
      pass: async ms => void (await vi.advanceTimersByTimeAsync(ms)),
      calmDown: () => {
        store.isFlaky = false
      },
      durable: false,
      serializes: seed % 2 === 0,
      acknowledge: seed % 4 < 2 ? 'immediately' : 'after-processing',
      reliable,
    },
    seed,
  )
  if (!reliable) return
  for (const id of machine.ids) {
    const claim = await memory.claim(await eventKey('', id), 'probe', { leaseMs: 1000, fingerprint: 0 })
    expect(claim.outcome, `the lease on ${id}, seed ${seed}`).not.toBe('in_flight')
  }
}

/** Passes real time on a real engine: a tenth of the requested time. */
const pass = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms / 10))
const durable = { pass, durable: true, acknowledge: 'immediately', reliable: true } as const

describe('the memory inbox, with processes that share a store', () => {
  afterEach(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })
  it(`ends every attempt once, loses nothing and leaves nothing uncounted`, async () => {
    for (const seed of runs(500, 40)) await playInMemory(seed)
  })
})

describe('SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-state-machine-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('ends every attempt once and loses nothing, whatever two processes on one file do', async () => {
    for (const seed of runs(60, 2)) {
      const path = join(folder, `${seed}.db`)
      const createInbox = () => sqliteInbox({ path, poll: '10ms' })
      await play({ ...durable, createInbox, serializes: seed % 2 === 0 }, seed)
    }
  })
})

describe('BullMQ', () => {
  let redis: RedisServer
  let postgres: PostgresServer
  beforeAll(async () => {
    ;[redis, postgres] = await Promise.all([startRedis(), startPostgres()])
  }, 60_000)
  afterAll(() => Promise.all([redis.stop(), postgres.stop()]))

  it('on Redis ends every attempt once and loses nothing, whatever two processes on one queue do', async () => {
    for (const seed of runs(40, 2)) {
      const createInbox = () => bullmqInbox({ connection: redis.url, queue: `machine-${seed}` })
      await play({ ...durable, createInbox, serializes: false }, seed)
    }
  })

  it('on PostgreSQL ends every attempt once and loses nothing, whatever two processes on one queue do', async () => {
    for (const seed of runs(15, 1)) {
      const options = { connectionString: postgres.url, migrate: true }
      const createInbox = () => bullmqInbox({ postgres: options, queue: `machine-${seed}` })
      await play({ ...durable, createInbox, serializes: seed % 2 === 0 }, seed)
    }
  })
})

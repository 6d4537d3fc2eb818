import { createReceiver, type EffectsHost, type MaybePromise, NonRetryableError } from '@ackhook/core'
import { sqlEffects } from '@ackhook/sql'
import { createEvent, testReceiver } from '@ackhook/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Databases, type OpenDatabase, SERVERS } from './databases.ts'
import { contextOf, eventOf, quoted } from './handling.ts'

const secret = 'only-for-trying-it-out'
const logger = { info() {}, warn() {}, error() {} }

/** A logger that keeps the codes of its warnings, and their text. */
function listening() {
  const lines: [unknown, string][] = []
  const warn = (fields: unknown, message = ''): void => {
    lines.push([(fields as { code?: unknown }).code, message])
  }
  return { logger: { ...logger, warn }, lines }
}

describe.each(Object.entries(SERVERS))('what operators do, on %s', (name, start) => {
  let databases: Databases
  let open: OpenDatabase
  beforeAll(async () => {
    databases = await start()
    open = databases.open(await databases.create())
  })
  afterAll(async () => {
    await open.close()
    await databases.stop()
  })

  const marksOf = async (id: string): Promise<number[]> => {
    const rows = await open.query(`SELECT done_at FROM ackhook_marks WHERE event_id = ${quoted(id)}`)
    return rows.map(row => Number(row['done_at']))
  }
  const runs = (
    effects: { start(host: EffectsHost): MaybePromise<() => void> },
    host: Partial<EffectsHost>,
  ) => effects.start({ concurrency: 1, logger, deadLetters: undefined, ...host })

  it('a redriven dead letter runs only the handlers without a mark', async () => {
    const ran: string[] = []
    let fails = true
    const effects = sqlEffects(open.db)
    const receiver = createReceiver({ secret, logger, effects })
      .on(
        'a.b',
        effects.once('succeeds', () => ran.push('succeeds')),
      )
      .on(
        'a.b',
        effects.once('fails', () => {
          ran.push('fails')
          if (fails) throw new NonRetryableError('the first time')
        }),
      )
    const hooks = testReceiver(receiver, { secret })
    await hooks.deliverEvent(createEvent('a.b', { id: 'evt_dead' }))
    await vi.waitFor(async () => expect(await receiver.deadLetters.get('evt_dead')).toBeDefined())
    fails = false
    await receiver.deadLetters.redrive('evt_dead')
    await vi.waitFor(() => expect(ran.toSorted()).toEqual(['fails', 'fails', 'succeeds']))
    await receiver.close()
  })

  it('a handled event runs again once the receiver has forgotten it, marks included', async () => {
    let handled = 0
    const effects = sqlEffects(open.db)
    const receiver = createReceiver({ secret, logger, effects, namespace: 'acme' }).on(
      'a.b',
      effects.once('counts', () => {
        handled++
      }),
    )
    const hooks = testReceiver(receiver, { secret })
    const event = createEvent('a.b', { id: 'evt_again' })
    await hooks.deliverEvent(event)
    await vi.waitFor(() => expect(handled).toBe(1))
    await vi.waitFor(async () => expect(await receiver.forget(event.id, { namespace: 'acme' })).toBe(true))
    await hooks.deliverEvent(event)
    await vi.waitFor(() => expect(handled).toBe(2))
    await receiver.close()
  })

  it('marks are deleted after their retention, and those of dead letters kept as long as the letters', async () => {
    const effects = sqlEffects(open.db, { retention: '30d' })
    effects.once('any', () => {})
    let fails = true
    const receiver = createReceiver({ secret, logger })
    receiver.on(
      'a.b',
      effects.once('keeps its mark', () => {}),
    )
    receiver.on('a.b', () => {
      if (fails) throw new NonRetryableError('dead')
    })
    const hooks = testReceiver(receiver, { secret })
    await hooks.deliverEvent(createEvent('a.b', { id: 'evt_letter' }))
    await vi.waitFor(async () => expect(await receiver.deadLetters.get('evt_letter')).toBeDefined())
    fails = false
    const young = sqlEffects(open.db).once('young', () => {})
    await young(eventOf('evt_young'), contextOf())
    // More than are deleted at a time; one is younger than the retention by a minute.
    const old = Array.from({ length: 1100 }, (_, i) => `('evt_old_${i}', 'any', '', ${i})`)
    await open.query(`INSERT INTO ackhook_marks VALUES ${old.join(', ')}`)
    const almost = Date.now() - 30 * 86_400_000 + 60_000
    await open.query(`INSERT INTO ackhook_marks VALUES ('evt_almost', 'any', '', ${almost})`)
    await open.query("INSERT INTO ackhook_marks VALUES ('evt_other', 'of another service', '', 1)")
    await open.query("UPDATE ackhook_marks SET done_at = 1 WHERE event_id = 'evt_letter'")

    const stop = await runs(effects, { deadLetters: receiver.deadLetters })
    const oldMarks = "SELECT count(*) AS n FROM ackhook_marks WHERE event_id LIKE 'evt_old%'"
    await vi.waitFor(async () => expect(Number((await open.query(oldMarks))[0]?.['n'])).toBe(0))
    stop()
    expect(await marksOf('evt_letter')).toEqual([expect.closeTo(Date.now(), -5)])
    expect(await marksOf('evt_young')).toHaveLength(1)
    expect(await marksOf('evt_almost')).toHaveLength(1)
    expect(await marksOf('evt_other')).toEqual([1])
    await receiver.close()
  })

  it('no mark is deleted while the dead letters cannot be read', async () => {
    await open.query("INSERT INTO ackhook_marks VALUES ('evt_unsure', 'any', '', 1)")
    let asked = 0
    const list = () => {
      asked++
      return Promise.reject(new Error('the inbox is down'))
    }
    const effects = sqlEffects(open.db)
    effects.once('any', () => {})
    const stop = await runs(effects, { deadLetters: { list } })
    await vi.waitFor(() => expect(asked).toBeGreaterThan(0))
    stop()
    expect(await marksOf('evt_unsure')).toEqual([1])
  })

  it('start names the command if a table or a column is missing', async () => {
    const bare = databases.open(await databases.create())
    await bare.query('ALTER TABLE ackhook_states DROP COLUMN event_id')
    const receiver = createReceiver({ secret, logger, effects: sqlEffects(bare.db) }).on('*', () => {})
    await expect(receiver.start()).rejects.toThrow(`npx ackhook sql ${open.dialect}`)
    await bare.close()
  })

  it.runIf(name !== 'SQLite')('start warns of a pool that is smaller than concurrency', async () => {
    const { logger, lines } = listening()
    const pooled = databases.open(await databases.create(), 4)
    await runs(sqlEffects(pooled.db), { logger, concurrency: 4 })
    expect(lines.filter(([code]) => code === 'sql_pool_small')).toEqual([])
    await runs(sqlEffects(pooled.db), { logger, concurrency: 5 })
    const [warning] = lines.filter(([code]) => code === 'sql_pool_small')
    expect(warning?.[1]).toMatch(/concurrency is 5, and the database pool has 4 connections/)
    await pooled.close()
  })

  it.runIf(name !== 'SQLite')(
    'start warns of a server that keeps the transactions of a lost host',
    async () => {
      const { logger, lines } = listening()
      await runs(sqlEffects(open.db), { logger })
      expect(lines).toEqual([
        ['sql_transactions_unlimited', expect.stringMatching(/set the first to (5min|300)/)],
      ])
      const address = await databases.create()
      const admin = databases.open(address)
      await admin.query(
        name === 'PostgreSQL'
          ? 'ALTER ROLE current_user SET idle_in_transaction_session_timeout = 300000'
          : 'SET GLOBAL idle_transaction_timeout = 300',
      )
      await admin.close()
      const limited = databases.open(address)
      lines.length = 0
      await runs(sqlEffects(limited.db), { logger })
      expect(lines).toEqual([])
      await limited.close()
    },
  )

  it.runIf(name !== 'SQLite')('start does not wait for a database that is down', async () => {
    const { logger, lines } = listening()
    const down = databases.open((await databases.create()).replace(/:\d+\//, ':1/'))
    const stop = await runs(sqlEffects(down.db), { logger })
    stop()
    expect(lines.map(([code]) => code)).toEqual(['sql_unchecked'])
    await down.close()
  })
})

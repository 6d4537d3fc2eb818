import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bullmqInbox } from '@ackhook/bullmq'
import { createReceiver, type Inbox, NonRetryableError, type Observation } from '@ackhook/core'
import { eraseEvents, sealedInbox } from '@ackhook/core/privacy'
import { sqliteInbox } from '@ackhook/sqlite'
import { createEvent } from '@ackhook/testing'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { KEYS, loadSeal } from '../support/documented-seal.ts'
import { startPostgres } from '../support/postgres.ts'
import { startRedis } from '../support/redis.ts'

const secret = 'a-secret-of-at-least-16-bytes'
const MARKERS = ['MARK-IN-BODY', 'MARK-IN-ERROR', 'MARK-IN-KEY']

/** Where an inbox keeps its events. */
interface Place {
  inbox(): Inbox
  /** All that is stored, as text. */
  dump(): Promise<string>
  stop(): unknown
}

async function onSqlite(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sealed-'))
  return {
    inbox: () => sqliteInbox({ path: join(folder, 'inbox.db'), poll: '20ms' }),
    dump: async () =>
      readdirSync(folder)
        .map(file => readFileSync(join(folder, file), 'latin1'))
        .join(''),
    stop: () => rmSync(folder, { recursive: true }),
  }
}

async function onRedis(): Promise<Place> {
  const server = await startRedis({ config: { rdbcompression: 'no' } })
  return {
    inbox: () => bullmqInbox({ connection: server.url }),
    async dump() {
      const client = new Redis(server.url)
      const dumps = (await client.keys('*')).map(async key =>
        (await client.dumpBuffer(key))?.toString('latin1'),
      )
      const text = (await Promise.all(dumps)).join('')
      client.disconnect()
      return text
    },
    stop: () => server.stop(),
  }
}

async function onPostgres(): Promise<Place> {
  const server = await startPostgres()
  const pool = new Pool({ connectionString: server.url })
  return {
    inbox: () => bullmqInbox({ postgres: { connectionString: server.url, migrate: true } }),
    async dump() {
      const { rows } = await pool.query("SELECT tablename FROM pg_tables WHERE schemaname = 'bullmq'")
      const texts = rows.map(async ({ tablename }) => {
        const all = await pool.query(`SELECT one::text AS text FROM bullmq."${tablename}" AS one`)
        return all.rows.map(({ text }) => text).join('')
      })
      return (await Promise.all(texts)).join('')
    },
    async stop() {
      await pool.end()
      await server.stop()
    },
  }
}

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** A receiver with one dead letter, and one event that waits for its next attempt. */
async function fill(inbox: Inbox, observed: Observation[] = []) {
  const receiver = createReceiver({
    secret,
    inbox,
    ...(inbox.cannotSerialize === undefined && { serializeBy: ({ id }) => `MARK-IN-KEY ${id}` }),
    retry: { minDelay: '10m', maxDelay: '20m' },
    observe: observation => void observed.push(observation),
    logger: { info() {}, warn() {}, error() {} },
  })
  receiver.on('*', ({ id }) => {
    if (id === 'evt_dead') throw new NonRetryableError('MARK-IN-ERROR')
    if (id === 'evt_waiting') throw new Error('MARK-IN-ERROR')
  })
  await receiver.start()
  stops.push(() => receiver.close({ timeout: '1s' }))
  for (const id of ['evt_handled', 'evt_dead', 'evt_waiting'])
    await receiver.ingest(
      createEvent('message.received', { id, data: { contact_id: 'MARK-IN-BODY' } as never }),
      {
        source: 'test',
      },
    )
  await expect.poll(async () => (await receiver.lookup('evt_dead')).state).toBe('dead')
  await expect.poll(async () => (await receiver.stats()).retrying).toBe(1)
  await expect.poll(async () => (await receiver.lookup('evt_handled')).state).toBe('handled')
  return receiver
}

describe.each([
  ['SQLite', onSqlite],
  ['Redis', onRedis],
  ['PostgreSQL', onPostgres],
])('on %s', (name, open) => {
  it('a sealed inbox stores no body, no error text and no ordering key that can be read', async () => {
    const place = await open()
    stops.push(place.stop)
    const functions = await loadSeal(KEYS.new)
    const receiver = await fill(sealedInbox(place.inbox(), functions))
    const stored = await place.dump()
    expect(stored).toContain('evt_dead')
    expect(MARKERS.filter(marker => stored.includes(marker))).toEqual([])
    const encoded = MARKERS.flatMap(marker =>
      ['hex', 'base64'].map(as => Buffer.from(marker).toString(as as 'hex')),
    )
    expect(encoded.filter(text => stored.includes(text.replace(/=+$/, '').slice(0, -2)))).toEqual([])
    const letter = await receiver.deadLetters.get('evt_dead')
    expect(letter?.reason).toBe('NonRetryableError: MARK-IN-ERROR')
    expect(new TextDecoder().decode(letter?.body)).toContain('MARK-IN-BODY')
    expect((await receiver.stats()).waitingError).toBe('a sealed error')
  })

  it('an inbox that is not sealed does store them, so that the search can find them', async () => {
    const place = await open()
    stops.push(place.stop)
    await fill(place.inbox())
    const stored = await place.dump()
    const hashed = name === 'SQLite' ? [] : ['MARK-IN-KEY']
    expect(MARKERS.filter(marker => !stored.includes(marker))).toEqual(hashed)
  })

  it('a restart with a wrong key loses nothing, and one with both keys goes on', async () => {
    const place = await open()
    stops.push(place.stop)
    const first = await fill(sealedInbox(place.inbox(), await loadSeal(KEYS.old)))
    await first.close({ timeout: '1s' })
    const wrong = await observe(sealedInbox(place.inbox(), await loadSeal(KEYS.new)))
    await wrong.receiver.deadLetters.redrive('evt_dead')
    await expect.poll(() => wrong.observed.map(one => 'code' in one && one.code)).toContain('open_failed')
    await expect.poll(async () => (await wrong.receiver.stats()).active).toBe(0)
    expect(await wrong.receiver.lookup('evt_dead')).toMatchObject({
      state: 'pending',
      event: { attempts: 0 },
    })
    expect(wrong.observed.filter(({ kind }) => kind === 'attempt_started')).toEqual([])
    await wrong.receiver.close({ timeout: '1s' })
    const rotated = await observe(sealedInbox(place.inbox(), await loadSeal(`${KEYS.new},${KEYS.old}`)))
    const { event } = (await rotated.receiver.lookup('evt_dead')) as { event: { body: Uint8Array } }
    expect(new TextDecoder().decode(event.body)).toContain('MARK-IN-BODY')
  })

  it('an erasure request deletes what waits and what is dead, also in a sealed inbox', async () => {
    const place = await open()
    stops.push(place.stop)
    const observed: Observation[] = []
    const receiver = await fill(sealedInbox(place.inbox(), await loadSeal(KEYS.new)), observed)
    const where = { 'data.contact_id': 'MARK-IN-BODY' }
    expect(await eraseEvents(receiver, { where, dryRun: true })).toMatchObject({
      dead: 1,
      waiting: 1,
      running: 0,
    })
    expect(await eraseEvents(receiver, { where: { 'data.contact_id': 'another' } })).toMatchObject({
      dead: 0,
      waiting: 0,
    })
    expect(await eraseEvents(receiver, { where })).toMatchObject({
      dead: 1,
      waiting: 1,
      running: 0,
      unreadable: 0,
    })
    expect(await receiver.stats()).toMatchObject({ pending: 0, dead: 0 })
    expect(await receiver.lookup('evt_dead')).toEqual({ state: 'unknown' })
    expect(observed).toContainEqual({ kind: 'dropped', cause: 'erasure', dead: 1, waiting: 1 })
  })
})

/** A receiver whose handlers succeed. */
async function observe(inbox: Inbox) {
  const observed: Observation[] = []
  const receiver = createReceiver({
    secret,
    inbox,
    ...(inbox.cannotSerialize === undefined && { serializeBy: ({ id }) => id }),
    observe: observation => void observed.push(observation),
    logger: { info() {}, warn() {}, error() {} },
  })
  receiver.on('*', () => {})
  await receiver.start()
  stops.push(() => receiver.close({ timeout: '1s' }))
  return { receiver, observed }
}

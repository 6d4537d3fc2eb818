import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createReceiver, type Inbox } from '@ackhook/core'
import type { AttemptResult, ProcessEvent } from '@ackhook/core/spi'
import { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { inFull } from '../../../test/support/in-full.ts'
import { storedQueue } from '../src/engine/form.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

const SECRET = 'a secret of sixteen bytes or more'
const IN_ORDER = fileURLToPath(new URL('./fixtures/in-order.mjs', import.meta.url))

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

test('on Redis serializeBy is refused, and the error names the inboxes that support it', async () => {
  const engine = await redisEngine()
  closing.push(() => engine.stop())
  const inbox = engine.inbox(unique('order'))
  closing.push(() => inbox.close(0))
  const reason = /serializeBy.*Redis cannot.*PostgreSQL or sqliteInbox/
  await expect(async () => inbox.start(scripted(COMPLETED), aPolicy({ serialize: true }))).rejects.toThrow(
    reason,
  )
  expect(() => createReceiver({ secret: SECRET, inbox, serializeBy: event => event.id })).toThrow(reason)
})

describe('on PostgreSQL', { timeout: 120_000 }, () => {
  let engine: TestEngine
  let pool: Pool
  beforeAll(async () => {
    engine = await postgresEngine()
    pool = new Pool({ connectionString: String(engine.options.postgres), options: '-c search_path=bullmq' })
    pool.on('error', () => {})
  }, 60_000)
  afterAll(async () => {
    await pool.end()
    await engine.stop()
  })

  async function started(
    queue: string,
    { work = scripted(COMPLETED), concurrency = 4, serialize = true, optional = {} }: Settings = {},
  ): Promise<Inbox> {
    const inbox = engine.inbox(queue, optional)
    closing.push(() => inbox.close(1000))
    await inbox.start(work, aPolicy({ serialize, concurrency }))
    return inbox
  }
  interface Settings {
    readonly work?: ProcessEvent
    readonly concurrency?: number
    readonly serialize?: boolean
    readonly optional?: object
  }

  const statesOf = async (queue: string): Promise<Readonly<Record<string, string>>> => {
    const text = "SELECT data->>'id' AS id, state FROM job WHERE queue = $1"
    const { rows } = await pool.query<{ id: string; state: string }>(text, [storedQueue(queue)])
    return Object.fromEntries(rows.map(({ id, state }) => [id, state]))
  }

  async function accept(inbox: Inbox, id: string, createdAt: number, key = 'cnv_1'): Promise<void> {
    const delivery = aDelivery({ id, order: { key, createdAt } })
    let { outcome } = await inbox.accept(delivery)
    // A delivery that PostgreSQL keeps waiting, as in a deadlock, is refused in time. The sender repeats it.
    for (let repeats = 0; outcome === 'unavailable' && repeats < 5; repeats++) {
      outcome = (await inbox.accept(delivery)).outcome
    }
    expect(['accepted', 'duplicate']).toContain(outcome)
  }

  /** Starts another process, which writes each step to the file. */
  async function child(queue: string, file: string, settings: object = {}): Promise<ChildProcess> {
    const options = { postgres: engine.options.postgres, queue, file, ...settings }
    const before = linesOf(file).filter(line => line === 'started').length
    const process = spawn(globalThis.process.execPath, [IN_ORDER, JSON.stringify(options)], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    closing.push(() => process.kill('SIGKILL'))
    await until(() => linesOf(file).filter(line => line === 'started').length > before)
    return process
  }

  function newFile(): string {
    const folder = mkdtempSync(join(tmpdir(), 'ackhook-order-'))
    closing.push(() => rmSync(folder, { recursive: true }))
    return join(folder, 'events')
  }

  const points = ['in-handler', 'before-record', 'while-recording', 'after-record', 'retry'] as const
  test.each(inFull<readonly string[]>(points, points.slice(0, 3)))(
    'after kill -9 of the process that has the key (%s), another one continues in order',
    async killAt => {
      const [queue, file] = [unique('order'), newFile()]
      const receiving = await started(queue, { concurrency: 0 })
      const dying = await child(queue, file, { killAt, killId: 'e1' })
      const gone = once(dying, 'exit')
      for (let index = 0; index < 6; index++) await accept(receiving, `e${index}`, index)
      await gone
      await child(queue, file)
      await until(async () => (await receiving.stats()).pending === 0)
      await until(() => linesOf(file).includes('end e5'))
      await until(async () => (await receiving.stats()).active === 0)
      expect(beginsIn(file)).toEqual(['e0', 'e1', 'e2', 'e3', 'e4', 'e5'])
      expectNoneBesideAnother(linesOf(file), () => 'cnv_1')
    },
  )

  test('despite random kills of two processes, each key stays in order and no event is lost or stuck', async () => {
    const [queue, file] = [unique('order'), newFile()]
    const [one, other] = [await started(queue, { concurrency: 0 }), await started(queue, { concurrency: 0 })]
    const workers = [await child(queue, file, { workMs: 3 }), await child(queue, file, { workMs: 3 })]
    const keys = ['a', 'b', 'c', 'd', 'e']
    const each = inFull(400, 60)
    const accepting = Promise.all(
      keys.map(async key => {
        for (let index = 0; index < each; index++) {
          const id = `${queue}-${key}-${index}`
          // The platform delivers it twice, to two processes.
          await Promise.all([accept(one, id, index, key), accept(other, id, index, key)])
        }
      }),
    )
    for (let kills = 0; kills < inFull(20, 3); kills++) {
      const at = linesOf(file).length + 30
      await until(async () => linesOf(file).length >= at || (await isIdle(one)))
      const index = kills % 2
      workers[index]!.kill('SIGKILL')
      await once(workers[index]!, 'exit')
      workers[index] = await child(queue, file, { workMs: 3 })
    }
    await accepting
    await until(() => isIdle(one))
    for (const key of keys) {
      const own = beginsIn(file).filter(id => id.includes(`-${key}-`))
      expect(own).toEqual(Array.from({ length: each }, (_, index) => `${queue}-${key}-${index}`))
    }
    expectNoneBesideAnother(linesOf(file), id => id.split('-')[1]!)
  })

  test('a key continues when a dashboard removes its head or empties the queue', async () => {
    const queue = unique('order')
    const inbox = await started(queue, { concurrency: 0 })
    for (let index = 0; index < 4; index++) await accept(inbox, `e${index}`, index)
    expect(await statesOf(queue)).toMatchObject({ e0: 'waiting', e1: 'waiting-children' })
    const dashboard = engine.queue(queue)
    closing.push(() => dashboard.close())
    await dashboard.remove('e-key-e0')
    expect(await statesOf(queue)).toMatchObject({ e1: 'waiting', e2: 'waiting-children' })
    await dashboard.remove('e-key-e2')
    expect(await statesOf(queue)).toEqual({ e1: 'waiting', e3: 'waiting-children' })
    await dashboard.drain()
    expect(await statesOf(queue)).toEqual({ e3: 'waiting' })
  })

  test('an event that arrives while the last one of its key ends is not left waiting', async () => {
    const queue = unique('order')
    const inbox = await started(queue, { concurrency: 0 })
    await accept(inbox, 'e0', 0)
    const client = await pool.connect()
    await client.query('BEGIN')
    await client.query('DELETE FROM job WHERE queue = $1', [storedQueue(queue)])
    let isAnswered = false
    const answer = accept(inbox, 'e1', 1).finally(() => {
      isAnswered = true
    })
    const waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    await until(async () => isAnswered || (await pool.query(waiting)).rowCount === 1)
    await client.query('COMMIT')
    client.release()
    await answer
    expect(await statesOf(queue)).toEqual({ e1: 'waiting' })
  })

  test('a redriven dead letter takes its turn by its age, and a discarded one blocks no other event', async () => {
    const queue = unique('order')
    const ran: string[] = []
    const releases: (() => void)[] = []
    const died = new Set<string>()
    const work: ProcessEvent = async ({ id }): Promise<AttemptResult> => {
      ran.push(id)
      if (id.startsWith('dead') && !died.has(id)) {
        died.add(id)
        return { outcome: 'dead', error: new Error('no'), notified: true }
      }
      await new Promise<void>(resolve => releases.push(resolve))
      return COMPLETED
    }
    const inbox = await started(queue, { work })
    await accept(inbox, 'dead1', 1)
    await accept(inbox, 'dead2', 2)
    await until(async () => (await inbox.stats()).dead === 2)
    await accept(inbox, 'e3', 3)
    await until(() => ran.includes('e3'))
    await accept(inbox, 'e4', 4)
    expect(await inbox.deadLetters!.redrive('key-dead2')).toBe(true)
    expect(await inbox.deadLetters!.discard('key-dead1')).toBe(true)
    expect(await statesOf(queue)).toEqual({
      dead2: 'waiting-children',
      e3: 'active',
      e4: 'waiting-children',
    })
    releases[0]!()
    await until(() => releases.length === 2)
    releases[1]!()
    await until(() => releases.length === 3)
    releases[2]!()
    expect(ran).toEqual(['dead1', 'dead2', 'e3', 'dead2', 'e4'])
    await until(() => isIdle(inbox))
  })

  /** Leaves dead letters of these keys, each a millisecond younger than the previous one. */
  async function leaveLetters(queue: string, keys: readonly string[], each: number): Promise<string[]> {
    const dead: AttemptResult = { outcome: 'dead', error: new Error('no'), notified: true }
    const inbox = await started(queue, { work: scripted(dead) })
    const ids = keys.flatMap(key => Array.from({ length: each }, (_, index) => `${key}-${index}`))
    await Promise.all(ids.map(id => accept(inbox, id, Number(id.split('-')[1]), id.split('-')[0])))
    await until(async () => (await inbox.stats()).dead === ids.length)
    await inbox.close(1000)
    return ids
  }

  test('dead letters of one key that are redriven together run one at a time, oldest first', async () => {
    const queue = unique('order')
    const ids = await leaveLetters(queue, ['a', 'b'], 12)
    const lines: string[] = []
    const work: ProcessEvent = async ({ id }) => {
      lines.push(`begin ${id}`)
      await new Promise(resolve => setImmediate(resolve))
      lines.push(`end ${id}`)
      return COMPLETED
    }
    const receiving = await started(queue, { concurrency: 0 })
    const shuffled = ids.map((_, index) => `key-${ids[(index * 7) % ids.length]}`)
    expect(await receiving.deadLetters!.redriveMany!(shuffled)).toHaveLength(24)
    const states = Object.values(await statesOf(queue)).sort()
    expect(states).toEqual([...Array(2).fill('waiting'), ...Array(22).fill('waiting-children')])
    const inbox = await started(queue, { work })
    await until(() => isIdle(inbox))
    expectNoneBesideAnother(lines, id => id.split('-')[0]!)
    const begun = lines.filter(line => line.startsWith('begin')).map(line => line.slice('begin '.length))
    for (const key of ['a', 'b']) {
      const own = begun.filter(id => id.startsWith(key))
      expect(own).toEqual(Array.from({ length: 12 }, (_, index) => `${key}-${index}`))
    }
  })

  test('dead letters that two processes redrive while events of their keys arrive all run, one per key at a time', async () => {
    const queue = unique('order')
    const keys = ['a', 'b', 'c', 'd', 'e', 'f']
    const letters = await leaveLetters(queue, keys, 8)
    const [one, other] = [await started(queue, { concurrency: 0 }), await started(queue, { concurrency: 0 })]
    const arriving = letters.map((_, index) => `${keys[index % 6]}-${100 + index}`)
    const byKey = letters.map(id => `key-${id}`)
    await Promise.all([
      one.deadLetters!.redriveMany!(byKey),
      other.deadLetters!.redriveMany!(byKey.toReversed()),
      ...arriving.map((id, index) =>
        accept(index % 2 === 0 ? one : other, id, Number(id.split('-')[1]), id.split('-')[0]),
      ),
    ])
    const heads = Object.values(await statesOf(queue)).filter(state => state === 'waiting')
    expect(heads).toHaveLength(6)
    const lines: string[] = []
    const work: ProcessEvent = async ({ id }) => {
      lines.push(`begin ${id}`)
      await new Promise(resolve => setImmediate(resolve))
      lines.push(`end ${id}`)
      return COMPLETED
    }
    const inbox = await started(queue, { work })
    await until(() => isIdle(inbox))
    expectNoneBesideAnother(lines, id => id.split('-')[0]!)
    expect(
      lines
        .filter(line => line.startsWith('end'))
        .map(line => line.slice('end '.length))
        .sort(),
    ).toEqual([...letters, ...arriving].sort())
  })

  test('a redrive that PostgreSQL rolls back because of a deadlock is repeated', async () => {
    const queue = unique('order')
    const ids = await leaveLetters(queue, ['a', 'b'], 2)
    const inbox = await started(queue, { concurrency: 0 })
    const client = await pool.connect()
    closing.push(() => client.release())
    await client.query('BEGIN')
    // PostgreSQL rolls back the transaction whose deadlock_timeout ends first.
    await client.query("SET LOCAL deadlock_timeout = '30s'")
    const key = createHash('sha256').update('a', 'utf16le').digest('base64url')
    const lock = "SELECT pg_advisory_xact_lock(hashtextextended('ackhook:order:' || $1 || ':' || $2, 0))"
    await client.query(lock, [storedQueue(queue), key])
    const redriven = inbox.deadLetters!.redriveMany!(ids.map(id => `key-${id}`))
    const waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    await until(async () => (await pool.query(waiting)).rowCount === 1)
    // The redrive has the rows, and waits for the key: now each waits for the other.
    await client.query('SELECT FROM job WHERE queue = $1 FOR UPDATE', [storedQueue(queue)])
    await client.query('COMMIT')
    expect(await redriven).toHaveLength(4)
    expect(Object.values(await statesOf(queue)).filter(state => state === 'waiting')).toHaveLength(2)
  })

  test('a redelivered dead letter takes its turn by the order of that delivery', async () => {
    const queue = unique('order')
    const dead: AttemptResult = { outcome: 'dead', error: new Error('no'), notified: true }
    const first = await started(queue, { work: scripted(dead) })
    await accept(first, 'letter', 9)
    await until(async () => (await first.stats()).dead === 1)
    await first.close(1000)
    const inbox = await started(queue, { concurrency: 0 })
    await accept(inbox, 'head', 5, 'other')
    await inbox.accept(aDelivery({ id: 'letter', order: { key: 'other', createdAt: 7 } }))
    expect(await statesOf(queue)).toEqual({ head: 'waiting', letter: 'waiting-children' })
    await inbox.accept(aDelivery({ id: 'older', order: { key: 'other', createdAt: 3 } }))
    expect(await statesOf(queue)).toEqual({
      older: 'waiting',
      head: 'waiting-children',
      letter: 'waiting-children',
    })
  })

  test('events accepted together run in order of arrival, even with equal times', async () => {
    const queue = unique('order')
    const inbox = await started(queue, { concurrency: 0 })
    const ids = Array.from({ length: 60 }, (_, index) => `e${(index * 37) % 60}`)
    await Promise.all(ids.map(id => accept(inbox, id, 1)))
    const work = scripted(COMPLETED)
    await started(queue, { work })
    await until(() => isIdle(inbox))
    // The first event is sent alone, alongside the batch of the others, so its place among them is open.
    const ran = work.runs.map(({ delivery }) => delivery.id)
    expect(ran.filter(id => id !== ids[0])).toEqual(ids.slice(1))
    expect(ran).toContain(ids[0])
  })

  test('keys are distinguished whatever characters they contain', async () => {
    const queue = unique('order')
    const inbox = await started(queue, { concurrency: 0 })
    const keys = ['tenant\0one', 'tenant\0two', '\ud800', '\ud801', 'x'.repeat(10_000)]
    for (const [index, key] of keys.entries()) await accept(inbox, `e${index}`, index, key)
    expect(new Set(Object.values(await statesOf(queue)))).toEqual(new Set(['waiting']))
  })

  test('events that wait for their turn are pending: in the counts, in the list, and against the capacity', async () => {
    const queue = unique('order')
    const inbox = engine.inbox(queue)
    closing.push(() => inbox.close(1000))
    await inbox.start(scripted(COMPLETED), aPolicy({ serialize: true, concurrency: 0, capacity: 3 }))
    for (let index = 0; index < 3; index++) await accept(inbox, `e${index}`, index)
    expect(await inbox.stats()).toMatchObject({ pending: 3, active: 0 })
    const page = await inbox.browse!({ state: 'pending' })
    expect(page.map(({ id }) => id)).toEqual(['e0', 'e1', 'e2'])
    const full = await started(queue, { concurrency: 0 })
    await until(async () => (await full.stats()).pending === 3)
  })

  test('a queue that ran without an order is ordered once the option is set', async () => {
    const queue = unique('order')
    const before = await started(queue, { concurrency: 0, serialize: false })
    await before.accept(aDelivery({ id: 'old' }))
    await before.close(0)
    const inbox = await started(queue, { concurrency: 0 })
    await accept(inbox, 'e0', 0)
    await accept(inbox, 'e1', 1)
    expect(await statesOf(queue)).toEqual({ old: 'waiting', e0: 'waiting', e1: 'waiting-children' })
    const without = await started(queue, { serialize: false })
    await until(() => isIdle(without))
  })

  test('a database with another isolation level is refused, with the setting to change', async () => {
    await pool.query("ALTER ROLE postgres SET default_transaction_isolation = 'repeatable read'")
    closing.push(() => pool.query('ALTER ROLE postgres RESET default_transaction_isolation'))
    const inbox = engine.inbox(unique('order'))
    closing.push(() => inbox.close(0))
    await expect(async () => inbox.start(scripted(COMPLETED), aPolicy({ serialize: true }))).rejects.toThrow(
      /serializeBy.*'repeatable read'.*default_transaction_isolation/,
    )
  })
})

async function isIdle(inbox: Inbox): Promise<boolean> {
  const { pending, active } = await inbox.stats!()
  return pending + active === 0
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
}

/** Returns the events in the order in which they began; an event that began twice in a row counts once. */
function beginsIn(file: string): readonly string[] {
  const last = new Map<string, string>()
  return linesOf(file).flatMap(line => {
    const id = line.slice('begin '.length)
    if (!line.startsWith('begin ')) return []
    const key = id.replace(/\d+$/, '')
    if (last.get(key) === id) return []
    last.set(key, id)
    return [id]
  })
}

function expectNoneBesideAnother(lines: readonly string[], keyOf: (id: string) => string): void {
  const running = new Map<string, string>()
  for (const line of lines) {
    const [what, id = ''] = line.split(' ')
    if (what === 'started') continue
    const own = running.get(keyOf(id))
    // An event whose process died begins again.
    if (what === 'begin' && own !== undefined) expect(own).toBe(id)
    if (what === 'begin') running.set(keyOf(id), id)
    else running.delete(keyOf(id))
  }
}

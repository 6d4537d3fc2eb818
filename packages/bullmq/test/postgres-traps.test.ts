import { bullmqInbox } from '@ackhook/bullmq'
import type { Inbox } from '@ackhook/core'
import { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ownTime } from '../../../test/support/own-time.ts'
import { type PostgresServer, startPostgres } from '../../../test/support/postgres.ts'
import { OURS, storedQueue } from '../src/engine/form.ts'
import { ACCEPT, READ_COUNTS, RECLAIM, REPLACE_HANDLED } from '../src/postgres/statements.ts'
import { migrate } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

let server: PostgresServer
const closing: (() => unknown)[] = []

beforeAll(async () => {
  server = await startPostgres()
  await migrate(server.url)
}, 60_000)
afterAll(() => server.stop())
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Returns a query's text: pools receive an object with the text and type parsers. */
/** Runs every query of a pool through a function, before anything has connected. */
function intercept(
  pool: Pool,
  around: (text: string, run: () => Promise<unknown>) => Promise<unknown>,
): void {
  pool.on('connect', client => {
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>
    client.query = ((...args: unknown[]) =>
      around(String(Object(args[0]).text ?? args[0]), () => query(...args))) as typeof client.query
  })
}

function opened(options: Parameters<typeof bullmqInbox>[0]): Inbox {
  const inbox = bullmqInbox({ queue: unique('q'), lease: '1s', ...options })
  closing.push(() => inbox.close(1000))
  return inbox
}

/** A pool on BullMQ's schema. */
function pooled(options = '-c search_path=bullmq'): Pool {
  const pool = new Pool({ connectionString: server.url, options })
  closing.push(() => pool.end())
  return pool
}

test('a user’s pool works, and stays open', async () => {
  const pool = pooled()
  pool.on('error', () => {})
  const inbox = opened({ postgres: pool })
  const work = scripted(COMPLETED)
  await inbox.start(work, aPolicy())
  await inbox.accept(aDelivery())
  await until(() => work.runs.length === 1)
  await inbox.close(1000)
  expect((await pool.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }])
})

test('a URL object connects to its server', async () => {
  const inbox = opened({ postgres: new URL(server.url) })
  await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
  expect(await inbox.accept(aDelivery())).toEqual({ outcome: 'accepted' })
})

test('closed inboxes leave a user’s pool with its own listeners only', async () => {
  const pool = pooled()
  const own = () => {}
  pool.on('error', own)
  for (let i = 0; i < 3; i++) {
    const inbox = opened({ postgres: pool })
    await inbox.start(scripted(COMPLETED), aPolicy())
    expect((await inbox.accept(aDelivery())).outcome).toBe('accepted')
    await inbox.close(1000)
  }
  expect(pool.listeners('error')).toEqual([own])
})

test('a success in the last attempt that cannot be recorded is recorded later, and makes no dead letter', async () => {
  const pool = pooled()
  const queue = unique('q')
  const inbox = opened({ postgres: server.url, queue })
  const work = scripted(COMPLETED)
  const policy = aPolicy({ retry: { ...aPolicy().retry, attempts: 1 } })
  await inbox.start(async (delivery, attempt) => {
    const check = `state <> 'completed' OR queue <> '${storedQueue(queue)}'`
    await pool.query(`ALTER TABLE job ADD CONSTRAINT none CHECK (${check}) NOT VALID`)
    return work(delivery, attempt)
  }, policy)
  const delivery = aDelivery()
  await inbox.accept(delivery)
  await until(() => policy.seen.some(({ kind }) => kind === 'store_down'))
  await pool.query('ALTER TABLE job DROP CONSTRAINT none')
  await until(async () => (await inbox.stats()).active === 0)
  expect(await inbox.stats()).toMatchObject({ pending: 0, dead: 0 })
  expect(await inbox.accept(delivery)).toEqual({ outcome: 'duplicate' })
  expect(work.runs).toHaveLength(1)
})

test('a worker whose clock is wrong keeps its events from the first moment, and takes none from others', async context => {
  const pool = pooled()
  const queue = unique('q')
  const inbox = opened({ postgres: server.url, queue, lease: '60s' })
  const real = Date.now
  context.onTestFinished(() => {
    Date.now = real
  })
  const work = scripted(
    COMPLETED,
    { outcome: 'dead', error: new Error('no'), notified: true },
    { outcome: 'retry', delayMs: 10_800_000, error: new Error('not yet') },
    COMPLETED,
  )
  const leases: unknown[] = []
  const lease = `SELECT locked_until_ms - extract(epoch FROM now()) * 1000 BETWEEN 50000 AND 60000 AS lasts
    FROM job WHERE queue = $1 AND state = 'active'`
  await inbox.start(
    async (delivery, attempt) => {
      // Another worker's check for expired locks.
      const reclaimed = (await pool.query(RECLAIM, [storedQueue(queue)])).rows
      leases.push(...(await pool.query(lease, [storedQueue(queue)])).rows, ...reclaimed)
      return work(delivery, attempt)
    },
    aPolicy({ concurrency: 1 }),
  )
  // The first event is taken alone, the others by each kind of end of the previous one, the last with the clock ahead.
  Date.now = () => real() - 3_600_000
  await Promise.all([1, 2, 3, 4].map(() => inbox.accept(aDelivery())))
  await until(() => work.runs.length === 4)
  Date.now = () => real() + 3_600_000
  await inbox.accept(aDelivery())
  await until(() => work.runs.length === 5)
  expect(leases).toEqual(Array.from({ length: 5 }, () => ({ lasts: true })))
})

test('an event whose routing token cannot be stored dies once it can, and not without it', async () => {
  const pool = pooled()
  const queue = unique('q')
  await pool.query(
    `ALTER TABLE job ADD CONSTRAINT no_mark CHECK (progress = '0' OR queue <> '${storedQueue(queue)}') NOT VALID`,
  )
  const inbox = opened({ postgres: server.url, queue })
  const work = scripted(
    { outcome: 'dead', error: new Error('no handler'), notified: true, routingToken: 1 },
    COMPLETED,
  )
  const policy = aPolicy()
  await inbox.start(work, policy)
  await inbox.accept(aDelivery())
  await until(() => policy.seen.some(({ kind }) => kind === 'store_down'))
  expect(await inbox.stats()).toMatchObject({ active: 1, dead: 0 })
  await pool.query('ALTER TABLE job DROP CONSTRAINT no_mark')
  await until(async () => (await inbox.stats()).dead === 1)
  const { rows } = await pool.query('SELECT progress FROM job WHERE queue = $1', [storedQueue(queue)])
  expect(rows).toEqual([{ progress: { postponed: 1 } }])
  expect(work.runs.length).toBe(1)
})

test('without BullMQ’s tables start rejects and names both ways to create them', async () => {
  const inbox = opened({ postgres: { connectionString: server.url, schema: 'elsewhere' } })
  await expect(async () => inbox.start(scripted(COMPLETED), aPolicy())).rejects.toThrow(
    /: create BullMQ's tables once with its `runMigrations\(client\)`, or .*migrate: true/,
  )
})

test('a start on a database that does not exist is refused with the fix', async () => {
  const address = new URL(server.url)
  address.pathname = '/nowhere'
  const inbox = opened({ postgres: address })
  await expect(async () => inbox.start(scripted(COMPLETED), aPolicy())).rejects.toThrow(
    /"nowhere" does not exist\): .*create that database, or use one that exists/,
  )
})

test.each([
  ['finds no BullMQ tables', '', /relation "job" does not exist.*search_path=bullmq/],
  [
    'may only read',
    '-c search_path=bullmq -c default_transaction_read_only=on',
    /read-only.*a user that may write/,
  ],
])('a start with a pool that %s is refused with the fix', async (_, options, message) => {
  const pool = pooled(options)
  const inbox = opened({ postgres: pool })
  await expect(async () => inbox.start(scripted(COMPLETED), aPolicy())).rejects.toMatchObject({
    code: 'inbox_unavailable',
    message: expect.stringMatching(message),
  })
})

test('a start as a role without the right to write is refused with the fix', async () => {
  const owner = new Pool({ connectionString: server.url })
  closing.push(() => owner.end())
  await owner.query('CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA bullmq TO reader')
  await owner.query('GRANT SELECT ON ALL TABLES IN SCHEMA bullmq TO reader')
  const inbox = opened({ postgres: server.url.replace('postgres@', 'reader@') })
  await expect(async () => inbox.start(scripted(COMPLETED), aPolicy())).rejects.toThrow(
    /permission denied.*a user that may write/,
  )
})

test.each([
  ['synchronous_commit=on', []],
  ['synchronous_commit=local', []],
  ['synchronous_commit=off', ['postgres_not_durable']],
  ['default_transaction_isolation=serializable', ['postgres_isolation']],
])(
  'an operator is notified when PostgreSQL may lose events or run them twice: %s',
  async (setting, codes) => {
    const pool = new Pool({
      connectionString: server.url,
      options: `-c search_path=bullmq -c ${setting}`,
    })
    closing.push(() => pool.end())
    let asked = false
    intercept(pool, async (text, run) => {
      const result = await run()
      asked ||= text.includes('synchronous_commit')
      return result
    })
    const policy = aPolicy({ concurrency: 0 })
    const inbox = opened({ postgres: pool })
    await inbox.start(scripted(COMPLETED), policy)
    await until(() => asked)
    await until(() => policy.seen.length >= codes.length)
    expect(policy.seen.map(seen => 'code' in seen && seen.code)).toEqual(codes)
  },
)

test('an event that is redelivered while its job is being replaced by its id is a duplicate, and does not run again', async () => {
  const queue = unique('q')
  const pool = pooled()
  const inbox = opened({ postgres: server.url, queue })
  const work = scripted(COMPLETED)
  await inbox.start(work, aPolicy())
  const delivery = aDelivery()
  await inbox.accept(delivery)
  const jobs = () => pool.query(`SELECT state FROM job WHERE queue = $1`, [storedQueue(queue)])
  await until(async () => (await jobs()).rows[0]?.state === 'completed')

  const client = await pool.connect()
  closing.push(() => client.release())
  await client.query('BEGIN')
  expect((await client.query(REPLACE_HANDLED, [storedQueue(queue), 0, 10, 60_000])).rows).toEqual([
    { n: '1' },
  ])
  const before = await waiting(pool)
  const accepted = inbox.accept(delivery)
  // Its add waits for the transaction that replaces the job.
  await until(async () => (await waiting(pool)) > before)
  await client.query('COMMIT')
  expect(await accepted).toEqual({ outcome: 'duplicate' })
  expect((await jobs()).rows).toEqual([])
  expect(work.runs).toHaveLength(1)
})

test('new events are accepted on the primary alone, even if other statements read from a lagging replica', async () => {
  const pool = pooled()
  intercept(pool, async (text, run) =>
    text.includes('FROM job WHERE queue = $1 AND id = ANY') ? { rows: [] } : run(),
  )
  const inbox = opened({ postgres: pool })
  const work = scripted(COMPLETED)
  await inbox.start(work, aPolicy())
  const delivery = aDelivery()
  expect(await inbox.accept(delivery)).toEqual({ outcome: 'accepted' })
  expect(await inbox.accept(delivery)).toEqual({ outcome: 'duplicate' })
  await until(() => work.runs.length === 1)
})

test('deliveries that are refused together cost the server a few lookups, not one each', async () => {
  const pool = pooled()
  let statements = 0
  intercept(pool, (text, run) => {
    // The processes read their board now and then.
    if (!text.includes(`${OURS}process`)) statements++
    return run()
  })
  const inbox = opened({ postgres: pool })
  await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0, capacity: 1 }))
  const first = aDelivery()
  expect((await inbox.accept(first)).outcome).toBe('accepted')
  statements = 0
  const deliveries = [first, ...Array.from({ length: 199 }, () => aDelivery())]
  const answers = await Promise.all(deliveries.map(delivery => inbox.accept(delivery)))
  expect(answers.map(({ outcome }) => outcome)).toEqual(['duplicate', ...Array(199).fill('full')])
  expect(statements).toBeLessThan(6)
})

test.each([
  [10, undefined],
  [3, 3],
])('a process opens at most %d connections, however many events arrive and run', async (most, max) => {
  const name = unique('app')
  const pool = new Pool({ connectionString: server.url })
  closing.push(() => pool.end())
  const connectionString = `${server.url}?application_name=${name}`
  const inbox = opened({
    postgres: max === undefined ? connectionString : { connectionString, max },
    queue: name,
  })
  const work = scripted(COMPLETED)
  await inbox.start(work, aPolicy({ concurrency: 50 }))
  const seen: number[] = []
  const read = async () => {
    // BullMQ names the connection that it listens on after the queue.
    const { rows } = await pool.query(
      'SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = $1',
      [name],
    )
    return Number(rows[0].n)
  }
  const count = async () => {
    let connections = await read()
    const endsAt = performance.now() + 5000
    // A connection that the pool has replaced leaves the server a moment later; one too many would stay for 10 s.
    while (connections > most && performance.now() < endsAt) connections = await read()
    seen.push(connections)
  }
  const answers = Promise.all(Array.from({ length: 300 }, () => inbox.accept(aDelivery())))
  let accepted = Number.POSITIVE_INFINITY
  // A busy machine refuses some of them.
  void answers.then(all => {
    accepted = all.filter(({ outcome }) => outcome === 'accepted').length
  })
  await until(async () => {
    await Promise.all([count(), inbox.stats(), inbox.deadLetters.list()])
    return work.runs.length >= accepted
  })
  expect(Math.max(...seen)).toBeGreaterThan(1)
  expect(Math.max(...seen)).toBeLessThanOrEqual(most)
})

test('two processes that get the same events in opposite orders do not wait for each other', async () => {
  const queue = unique('q')
  const inboxes = [opened({ postgres: server.url, queue }), opened({ postgres: server.url, queue })]
  for (const inbox of inboxes) await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
  for (let round = 0; round < 20; round++) {
    const deliveries = Array.from({ length: 50 }, () => aDelivery())
    const orders = [deliveries, deliveries.toReversed()]
    const answers = await Promise.all(
      inboxes.flatMap((inbox, i) => orders[i]!.map(delivery => inbox.accept(delivery))),
    )
    expect(answers.filter(({ outcome }) => outcome === 'unavailable')).toEqual([])
  }
  expect(await inboxes[0]!.stats()).toMatchObject({ pending: 1000 })
})

test('deliveries are accepted while many completions wait for the server', async () => {
  const pool = pooled()
  const queue = unique('q')
  const inbox = opened({ postgres: server.url, queue, lease: '30s' })
  let running = 0
  let release = (): void => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  await inbox.start(
    async () => {
      running++
      await released
      return COMPLETED
    },
    aPolicy({ concurrency: 40 }),
  )
  await Promise.all(Array.from({ length: 40 }, () => inbox.accept(aDelivery())))
  await until(() => running === 40)
  const client = await pool.connect()
  closing.push(() => client.release())
  await client.query('BEGIN')
  await client.query('SELECT FROM job WHERE queue = $1 FOR UPDATE', [storedQueue(queue)])
  const before = await waiting(pool)
  release()
  await until(async () => (await waiting(pool)) > before + 3)
  for (let i = 0; i < 10; i++) {
    expect(await inbox.accept(aDelivery())).toEqual({ outcome: 'accepted' })
  }
  await client.query('ROLLBACK')
  await until(async () => (await inbox.stats()).active === 0)
})

test('events whose completions wait for a slow server for longer than a lease run once', async () => {
  const pool = pooled()
  const queue = unique('q')
  // Six completions at a time: the last of 60 waits for 6 s.
  await pool.query(`
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.6); RETURN NEW; END';
    CREATE TRIGGER slow BEFORE UPDATE ON job FOR EACH ROW
      WHEN (OLD.queue = '${storedQueue(queue)}' AND OLD.state = 'active' AND NEW.state = 'completed') EXECUTE FUNCTION slow()`)
  closing.push(() => pool.query('DROP TRIGGER slow ON job; DROP FUNCTION slow'))
  const inbox = opened({ postgres: server.url, queue, lease: '3s' })
  const runs: string[] = []
  let release = (): void => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  const policy = aPolicy({ concurrency: 60 })
  await inbox.start(async ({ id }) => {
    runs.push(id)
    await released
    return COMPLETED
  }, policy)
  await Promise.all(Array.from({ length: 60 }, () => inbox.accept(aDelivery())))
  await until(() => runs.length === 60)
  release()
  await until(async () => {
    const { pending, active } = await inbox.stats()
    return pending + active === 0
  })
  expect([new Set(runs).size, runs.length]).toEqual([60, 60])
  expect(policy.seen.filter(({ kind }) => kind === 'lease_lost' || kind === 'store_down')).toEqual([])
})

test('the event of a dead process runs before later events', async () => {
  const pool = pooled()
  const queue = unique('q')
  const receiving = opened({ postgres: server.url, queue })
  await receiving.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
  const deliveries = Array.from({ length: 40 }, () => aDelivery())
  for (const delivery of deliveries) await receiving.accept(delivery)
  await pool.query(
    `UPDATE job SET state = 'active', lock_token = 'dead', locked_until_ms = 1 WHERE queue = $1 AND id = $2`,
    [storedQueue(queue), `e-${deliveries[0]!.key}`],
  )
  const working = opened({ postgres: server.url, queue })
  const runs: string[] = []
  let release = (): void => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  await working.start(
    async ({ id }) => {
      runs.push(id)
      await released
      return COMPLETED
    },
    aPolicy({ concurrency: 2 }),
  )
  const isBack = async () => {
    const { rows } = await pool.query('SELECT state FROM job WHERE queue = $1 AND id = $2', [
      storedQueue(queue),
      `e-${deliveries[0]!.key}`,
    ])
    return rows[0]?.state === 'waiting' || runs.includes(deliveries[0]!.id)
  }
  await until(isBack)
  release()
  await until(() => runs.length === 40)
  expect(runs.indexOf(deliveries[0]!.id)).toBeLessThan(5)
}, 60_000)

test('deliveries are refused within 1.2 s while PostgreSQL is down, and accepted once it is back', async () => {
  const own = await startPostgres()
  closing.push(() => own.stop())
  await migrate(own.url)
  const inbox = opened({ postgres: own.url })
  const work = scripted(COMPLETED)
  await inbox.start(work, aPolicy())
  expect((await inbox.accept(aDelivery())).outcome).toBe('accepted')
  await until(() => work.runs.length === 1)
  await own.kill()
  for (let i = 0; i < 3; i++) {
    const { value, ms } = await ownTime(() => inbox.accept(aDelivery()))
    expect(value.outcome).toBe('unavailable')
    expect(ms).toBeLessThan(1200)
  }
  await own.restart()
  await until(async () => (await inbox.accept(aDelivery())).outcome === 'accepted')
  await until(() => work.runs.length >= 2)
}, 60_000)

test('a completion that deadlocks is recorded anyway, and the event does not run again', async () => {
  const pool = pooled()
  const queue = unique('q')
  const inbox = opened({ postgres: server.url, queue, lease: '30s' })
  const [slow, retried] = [aDelivery(), aDelivery()]
  const runs: string[] = []
  let release = (): void => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  await inbox.start(async ({ id }, { number }) => {
    runs.push(id)
    if (id === slow.id) await released
    else if (number === 1) return { outcome: 'retry', delayMs: 3000, error: new Error('later') }
    return COMPLETED
  }, aPolicy())
  await inbox.accept(slow)
  await inbox.accept(retried)
  // The second event waits for its retry, no longer for its first attempt.
  await until(async () => runs.includes(retried.id) && (await inbox.stats()).pending === 1)

  // The completion of one event locks its row and then wakes the other, which is due. Here both are locked in the other order.
  const client = await pool.connect()
  closing.push(() => client.release())
  const lock = (one: typeof slow) =>
    client.query('SELECT FROM job WHERE queue = $1 AND id = $2 FOR UPDATE', [
      storedQueue(queue),
      `e-${one.key}`,
    ])
  await client.query('BEGIN')
  // PostgreSQL rolls back the statement that detects the deadlock: it must not be this one.
  await client.query(`SET LOCAL deadlock_timeout = '1min'`)
  await lock(retried)
  await until(async () => (await waiting(pool)) > 0)
  const waitingBefore = await waiting(pool)
  release()
  await until(async () => (await waiting(pool)) > waitingBefore)
  await lock(slow)
  await client.query('ROLLBACK')

  await until(async () => {
    const { pending, active } = await inbox.stats()
    return pending + active === 0
  })
  expect(runs).toEqual([slow.id, retried.id, retried.id])
  const { rows } = await pool.query(
    'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
  )
  expect(Number(rows[0].deadlocks)).toBeGreaterThan(0)
})

/** Returns how many statements wait for a lock. */
async function waiting(pool: Pool): Promise<number> {
  const { rows } = await pool.query(
    `SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND state = 'active'`,
  )
  return Number(rows[0].n)
}

test('many waiting events are counted by the time a start resolves', async () => {
  const pool = pooled()
  const queue = unique('q')
  const first = opened({ postgres: server.url, queue })
  await first.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
  await first.accept(aDelivery())
  await pool.query(COPY_EVENT, [storedQueue(queue), 10_000])

  let counts = 0
  const slow = pooled()
  intercept(slow, async (text, run) => {
    const isCount = text === READ_COUNTS
    if (isCount) await new Promise(resolve => setTimeout(resolve, 100))
    const answer = await run()
    if (isCount) counts++
    return answer
  })
  const inbox = opened({ postgres: slow, queue })
  await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
  expect(counts).toBe(1)
  expect((await inbox.stats()).pending).toBe(10_001)
  expect(counts).toBe(1)
})

test.each(['', 'VACUUM ANALYZE'])(
  'an add reads few pages despite many waiting events, even if planned for an empty table: %s',
  async vacuum => {
    const url = new URL(server.url)
    url.pathname = unique('plans')
    await pooled().query(`CREATE DATABASE ${url.pathname.slice(1)}`)
    await migrate(url.href)
    const queue = unique('q')
    const inbox = opened({ postgres: url.href, queue })
    await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
    const pool = new Pool({ connectionString: url.href, options: '-c search_path=bullmq', max: 1 })
    closing.push(() => pool.end())
    // PostgreSQL assumes ten pages for a table that it never analyzed.
    await pool.query(vacuum)
    const readPages = async (count = 1) => {
      const jobs = Array.from({ length: count }, () => {
        const { id, type } = aDelivery()
        return { id, name: type, data: { token: id }, opts: {}, timestamp: Date.now(), attempts: 1 }
      })
      const { rows } = await pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${ACCEPT}`, [
        queue,
        JSON.stringify(jobs),
      ])
      return rows[0]['QUERY PLAN'][0].Plan['Shared Hit Blocks']
    }
    // PostgreSQL fixes its plan after five calls.
    for (let i = 0; i < 10; i++) for (const count of [1, 10]) await readPages(count)
    await pool.query(COPY_EVENT, [storedQueue(queue), 10_000])
    // 26 and 827, most of the latter for BullMQ's temporary tables. All waiting events would be 2,200 more.
    expect(await readPages()).toBeLessThan(100)
    expect(await readPages(10)).toBeLessThan(1500)
  },
)

/** $1 queue with an event, $2 how many copies. */
const COPY_EVENT = `
INSERT INTO job SELECT copy.* FROM (SELECT job FROM job WHERE queue = $1 LIMIT 1) AS found(one),
  generate_series(1, $2::integer) AS n,
  LATERAL jsonb_populate_record(one, jsonb_build_object('id', 'e-' || n, 'seq', nextval('job_seq'))) AS copy`

test.each(['redrive', 'discard'] as const)(
  'a %s waits for a statement that locks its letter, then changes it',
  async action => {
    const queue = unique('q')
    const pool = pooled()
    const inbox = opened({ postgres: server.url, queue })
    await inbox.start(scripted({ outcome: 'dead', error: new Error('no'), notified: false }), aPolicy())
    const delivery = aDelivery()
    await inbox.accept(delivery)
    await until(async () => (await inbox.stats()).dead === 1)
    const client = await pool.connect()
    closing.push(() => client.release())
    await client.query('BEGIN')
    await client.query('SELECT FROM job WHERE queue = $1 FOR UPDATE', [storedQueue(queue)])
    const before = await waiting(pool)
    const changed = inbox.deadLetters[action](delivery.key)
    await until(async () => (await waiting(pool)) > before)
    await client.query('ROLLBACK')
    expect(await changed).toBe(true)
  },
)

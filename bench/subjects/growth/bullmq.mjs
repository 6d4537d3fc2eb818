import { randomBytes } from 'node:crypto'
import { bullmqInbox } from '@ackhook/bullmq'
import pg from 'pg'
import { startPostgres, startRedis } from '../../lib/engines.mjs'
import { accepted, started } from '../durable/inbox.mjs'

const WEEK_MS = 604_800_000
/** Ids or events copied by one command. */
const CHUNK = 10_000

/** Fills a queue with remembered ids. One accepted event stays in it. */
export async function rememberOnRedis(client, inbox, queue, count) {
  await accepted(inbox)
  await copyInRedis(client, COPY_ID, queue, count, [Date.now() + WEEK_MS])
}

/** Opens a queue for each state, on Redis. */
export async function openRedis() {
  const server = await startRedis({ appendonly: 'yes' })
  const { client } = server
  const usedBytes = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))[1])
  const copy = (script, queue, count, ...parameters) => copyInRedis(client, script, queue, count, parameters)
  return {
    title: 'BullMQ on Redis',
    ...queues({
      open: (_state, queue) => bullmqInbox({ connection: server.url, queue }),
      usedBytes,
      copyIds: (_state, queue, count) => copy(COPY_ID, queue, count, Date.now() + WEEK_MS),
      copyEvents: (_state, queue, count) => copy(COPY_EVENT, queue, count),
    }),
    cpuUs: () => server.cpuUs(),
    stop: () => server.stop(),
  }
}

/** Opens a schema for each state, on PostgreSQL: queues in one schema would share its indexes. */
export async function openPostgres() {
  const server = await startPostgres()
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const usedBytes = async (state, table) => {
    await client.query(`VACUUM ANALYZE ${state}.${table}`)
    const size = `SELECT pg_total_relation_size('${state}.${table}') AS size`
    return Number((await client.query(size)).rows[0].size)
  }
  return {
    title: 'BullMQ on PostgreSQL',
    ...queues({
      open: (schema, queue) =>
        bullmqInbox({ postgres: { connectionString: server.url, migrate: true, schema }, queue }),
      usedBytes: (state, { ids = 0 }) => usedBytes(state, ids > 0 ? 'ackhook_remembered' : 'job'),
      copyIds: (state, queue, count) => client.query(copyId(state), [queue, count, Date.now() + WEEK_MS]),
      copyEvents: (state, queue, count) => client.query(copyEvent(state), [queue, count]),
    }),
    cpuUs: () => server.cpuUs(),
    async stop() {
      await client.end()
      await server.stop()
    },
  }
}

/** Fills queues with copies of one event that went through the inbox: a million through the inbox take half an hour. */
function queues({ open, usedBytes, copyIds, copyEvents }) {
  let round = 0
  const names = new Map()
  return {
    inbox: state => open(state, names.get(state)),
    async fill(state, holds) {
      const queue = `${state}-${round++}`
      names.set(state, queue)
      const { ids = 0, backlog = 0 } = holds
      const inbox = await started(open(state, queue))
      if (ids + backlog > 0) await accepted(inbox)
      await inbox.close(10_000)
      if (ids + backlog === 0) return 0
      const before = await usedBytes(state, holds)
      if (ids > 0) await copyIds(state, queue, ids)
      else await copyEvents(state, queue, backlog)
      return ((await usedBytes(state, holds)) - before) / (ids + backlog)
    },
  }
}

/** KEYS: the job, the waiting jobs. ARGV: the prefix of the queue's keys, the new ids. */
const COPY_EVENT = `
for i = 2, #ARGV do
  redis.call('COPY', KEYS[1], ARGV[1] .. ARGV[i])
  redis.call('LPUSH', KEYS[2], ARGV[i])
end`

/** Copies a remembered id. KEYS and ARGV as above, with the expiry time before the new ids. */
const COPY_ID = `
local token, fingerprint = redis.call('HGET', KEYS[1], 'data'):match('^{"token":"([^"]*)","fingerprint":(-?%d+),')
for i = 3, #ARGV do
  redis.call('HSET', ARGV[1] .. ARGV[i], 'token', token, 'fingerprint', fingerprint)
  redis.call('PEXPIREAT', ARGV[1] .. ARGV[i], ARGV[2])
end`

async function copyInRedis(client, script, queue, count, parameters) {
  const prefix = `bull:${queue}:`
  const [job] = await client.lrange(`${prefix}wait`, 0, 0)
  for (let done = 0; done < count; done += CHUNK) {
    const ids = Array.from({ length: CHUNK }, () => `e-${randomBytes(16).toString('base64url')}`)
    await client.eval(script, 2, prefix + job, `${prefix}wait`, prefix, ...parameters, ...ids)
  }
}

const NEW_ID = `'e-' || substr(translate(encode(uuid_send(gen_random_uuid()), 'base64'), '+/', '-_'), 1, 22)`

/** Parameters: $1 queue, $2 count, $3 expiry time. */
function copyId(schema) {
  return `INSERT INTO ${schema}.ackhook_remembered (forget_at_ms, fingerprint, queue, id, token)
    SELECT $3::bigint, (data->>'fingerprint')::integer, queue, ${NEW_ID}, data->>'token'
    FROM ${schema}.job, generate_series(1, $2::integer) WHERE queue = $1`
}

/** Parameters: $1 queue, $2 count. */
function copyEvent(schema) {
  return `WITH accepted AS (SELECT * FROM ${schema}.job WHERE queue = $1)
    INSERT INTO ${schema}.job SELECT copy.* FROM accepted, generate_series(1, $2::integer) AS n,
      LATERAL jsonb_populate_record(accepted::${schema}.job,
        jsonb_build_object('id', ${NEW_ID}, 'seq', nextval('${schema}.job_seq'), 'n', n)) AS copy`
}

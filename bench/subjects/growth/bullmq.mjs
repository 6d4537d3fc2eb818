import { bullmqInbox } from '@ackhook/bullmq'
import pg from 'pg'
import { startPostgres, startRedis } from '../../lib/engines.mjs'
import { accepted, started } from '../durable/inbox.mjs'

/** How many are under way while a queue is filled. */
const AT_A_TIME = 500

/** A queue for each state, on Redis. */
export async function openRedis() {
  const server = await startRedis({ appendonly: 'yes' })
  const usedBytes = async () => Number(/used_memory:(\d+)/.exec(await server.client.info('memory'))[1])
  return {
    title: 'BullMQ on Redis',
    ...queues(
      name => bullmqInbox({ connection: server.url, queue: name }),
      usedBytes,
      name => server.client.zcard(`bull:${name}:completed`),
    ),
    stop: () => server.stop(),
  }
}

/** The same on PostgreSQL. */
export async function openPostgres() {
  const server = await startPostgres()
  const postgres = { connectionString: server.url, migrate: true }
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const numberOf = async (...query) => Number((await client.query(...query)).rows[0].number)
  // The room of the jobs that were replaced is used again, and is no part of an id.
  const usedBytes = async isIds => {
    await client.query('VACUUM')
    const table = isIds ? 'bullmq.ackhook_remembered' : 'bullmq.job'
    return numberOf('SELECT pg_total_relation_size($1::regclass) AS number', [table])
  }
  const completed = `SELECT count(*) AS number FROM bullmq.job WHERE queue = $1 AND state = 'completed'`
  return {
    title: 'BullMQ on PostgreSQL',
    ...queues(
      name => bullmqInbox({ postgres, queue: name }),
      usedBytes,
      name => numberOf(completed, [name]),
    ),
    async stop() {
      await client.end()
      await server.stop()
    },
  }
}

/** Fills by the inbox itself, which replaces handled jobs by their ids after ten seconds. */
function queues(open, usedBytes, countHandledJobs) {
  let round = 0
  const names = new Map()
  return {
    inbox: state => open(names.get(state)),
    async fill(state, { ids = 0, backlog = 0 }) {
      names.set(state, `${state}-${round++}`)
      const inbox = await started(open(names.get(state)), { concurrency: ids > 0 ? 64 : 0 })
      const before = await usedBytes(ids > 0)
      for (let done = 0; done < ids + backlog; done += AT_A_TIME) {
        await Promise.all(Array.from({ length: AT_A_TIME }, () => accepted(inbox)))
      }
      if (ids > 0) await untilIdle(inbox, () => countHandledJobs(names.get(state)))
      const added = (await usedBytes(ids > 0)) - before
      await inbox.close(10_000)
      return added / Math.max(1, ids + backlog)
    },
  }
}

async function untilIdle(inbox, countHandledJobs) {
  for (;;) {
    const { pending, active } = await inbox.stats()
    if (pending + active + (await countHandledJobs()) === 0) return
    await new Promise(resolve => setTimeout(resolve, 500))
  }
}

import { bullmqInbox } from '@ackhook/bullmq'
import type { Inbox } from '@ackhook/core'
import { Redis } from 'ioredis'
import { Client, Pool } from 'pg'
import { afterAll, beforeAll, describe, onTestFinished, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../test/support/postgres.ts'
import { type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { storedQueue } from '../src/engine/form.ts'
import { migrate } from './engines.ts'
import { aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

/** Whose commands reach the server: after `left` of them none does, as if its process had been killed there. */
class Life {
  left = Number.POSITIVE_INFINITY

  send<T>(command: () => Promise<T>): Promise<T> {
    return this.left-- > 0 ? command() : Promise.reject(new Error('killed'))
  }
}

/** An inbox whose process ends after a number of commands, and one in a process that lives on. */
interface Place {
  mortal(queue: string, life: Life): Inbox
  inbox(queue: string): Inbox
  /** Whether BullMQ pauses the queue. */
  flag(queue: string): Promise<boolean>
}

function closing(inbox: Inbox): Inbox {
  onTestFinished(async () => void (await inbox.close(100)))
  return inbox
}

let redis: RedisServer
let postgres: PostgresServer
let reader: Redis
let pgReader: Client
beforeAll(async () => {
  redis = await startRedis()
  postgres = await startPostgres()
  await migrate(postgres.url)
  reader = new Redis(redis.url)
  pgReader = new Client({ connectionString: postgres.url })
  await pgReader.connect()
}, 60_000)
afterAll(async () => {
  reader.disconnect()
  await pgReader.end()
  await redis.stop()
  await postgres.stop()
})

/** Ends a client, and those that are duplicated from it, with a life. */
function withLife(client: Redis, life: Life): Redis {
  const send = client.sendCommand.bind(client)
  const duplicate = client.duplicate.bind(client)
  return Object.assign(client, {
    sendCommand: (...[command, stream]: Parameters<typeof send>) => {
      if (life.left-- > 0) return send(command, stream)
      command.reject(new Error('killed'))
      return command.promise
    },
    duplicate: (...options: Parameters<typeof duplicate>) => withLife(duplicate(...options), life),
  })
}

function onRedis(): Place {
  const open = (queue: string, connection: Redis | string) =>
    closing(bullmqInbox({ connection, queue, lease: '1s' }))
  return {
    inbox: queue => open(queue, redis.url),
    flag: async queue => (await reader.hexists(`bull:${storedQueue(queue)}:meta`, 'paused')) === 1,
    mortal(queue, life) {
      const client = withLife(new Redis(redis.url), life)
      client.on('error', () => {})
      onTestFinished(() => client.disconnect())
      return open(queue, client)
    },
  }
}

const onPostgres: Place = {
  inbox: queue => closing(bullmqInbox({ postgres: postgres.url, queue, lease: '1s' })),
  async flag(queue) {
    const text = "SELECT queue FROM bullmq.meta WHERE field = 'paused' AND queue = $1"
    return (await pgReader.query(text, [storedQueue(queue)])).rows.length === 1
  },
  mortal(queue, life) {
    class MortalClient extends Client {
      // biome-ignore lint/suspicious/noExplicitAny: `pg` declares this method in dozens of forms.
      override query(...query: any[]): any {
        return life.send(() => super.query(...(query as [never])) as never)
      }
    }
    const pool = new Pool({
      connectionString: postgres.url,
      options: '-c search_path=bullmq',
      Client: MortalClient as never,
    })
    pool.on('error', () => {})
    onTestFinished(() => pool.end())
    return closing(bullmqInbox({ postgres: pool, queue, lease: '1s' }))
  },
}

/** More commands than a change has. */
const MOST = 4

describe.each([
  ['on Redis', onRedis],
  ['on PostgreSQL', () => onPostgres],
] as const)('%s', (_, place) => {
  test.each(['pause', 'resume'] as const)(
    'a process that is killed in the middle of a %s leaves all of it or nothing, and it is told so',
    async verb => {
      const counts = Array.from({ length: MOST }, (_, i) => i)
      await Promise.all(counts.map(commands => killAfter(commands, verb, place())))
    },
  )
})

/** Waits until what is told, what is listed and what BullMQ does agree. */
async function killAfter(commands: number, verb: 'pause' | 'resume', place: Place) {
  const queue = unique('q')
  const other = place.inbox(queue)
  const policy = aPolicy()
  await other.start(scripted(COMPLETED), policy)
  if (verb === 'resume') await other.handling?.pause()
  const life = new Life()
  const dying = place.mortal(queue, life)
  await dying.handling?.paused()
  life.left = commands
  await Promise.resolve(dying.handling?.[verb]()).catch(() => {})
  life.left = 0
  const told = () => policy.seen.flatMap(one => (one.kind === 'notice' ? [one.code] : [])).at(-1)
  let state = {}
  await until(async () => {
    const paused = ((await other.handling?.paused()) ?? []).length === 1
    const flag = await place.flag(queue)
    state = { paused, flag, told: told() }
    return flag === paused && paused === (told() === 'handling_paused')
  }, 15_000).catch(() => {
    throw new Error(`after ${commands} commands: ${JSON.stringify(state)}`)
  })
}

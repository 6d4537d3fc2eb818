import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from './redis.ts'
import { until } from './until.ts'

export interface RedisSentinel {
  readonly name: string
  readonly sentinels: readonly { readonly host: string; readonly port: number }[]
  readonly master: RedisServer
  readonly replica: RedisServer
  stop(): Promise<void>
}

/** Starts a master, a replica, and a Sentinel that promotes the replica about a second after the master is gone. */
export async function startRedisSentinel(): Promise<RedisSentinel> {
  const name = 'ackhook'
  const master = await startRedis({ config: { 'repl-diskless-sync-delay': '0' } })
  const replica = await startRedis({ config: { replicaof: `${master.host} ${master.port}` } })
  const sentinel = await startRedis({
    sentinel: [
      `sentinel monitor ${name} ${master.host} ${master.port} 1`,
      `sentinel down-after-milliseconds ${name} 500`,
      `sentinel failover-timeout ${name} 5000`,
    ],
  })
  const client = new Redis({ host: sentinel.host, port: sentinel.port })
  try {
    await until('the Sentinel has found an online replica', async () => {
      const replicas = String(await client.call('SENTINEL', 'REPLICAS', name))
      return replicas.includes('master-link-status,ok')
    })
  } finally {
    client.disconnect()
  }
  const { host, port } = sentinel
  return {
    name,
    sentinels: [{ host, port }],
    master,
    replica,
    async stop() {
      await Promise.all([sentinel.stop(), master.stop(), replica.stop()])
    },
  }
}

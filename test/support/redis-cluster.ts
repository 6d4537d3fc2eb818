import { Redis } from 'ioredis'
import { freePort } from './free-port.ts'
import { type RedisServer, startRedis } from './redis.ts'
import { until } from './until.ts'

export interface RedisCluster {
  readonly servers: readonly RedisServer[]
  stop(): Promise<void>
}

const SLOTS = 16_384

/** Starts a real Redis Cluster of three masters without replicas. `config`: further lines of each redis.conf. */
export async function startRedisCluster(
  config: Readonly<Record<string, string>> = {},
): Promise<RedisCluster> {
  // The default bus port, 10000 higher, may not exist for a port that the system chose.
  const busPorts = [await freePort(), await freePort(), await freePort()]
  const servers = await Promise.all(
    busPorts.map(busPort =>
      startRedis({
        config: {
          'cluster-enabled': 'yes',
          'cluster-port': String(busPort),
          'cluster-node-timeout': '2000',
          ...config,
        },
      }),
    ),
  )
  const clients = servers.map(({ url }) => new Redis(url))
  try {
    const share = Math.ceil(SLOTS / servers.length)
    for (const [i, client] of clients.entries()) {
      const last = Math.min((i + 1) * share, SLOTS) - 1
      await client.call('CLUSTER', 'ADDSLOTSRANGE', i * share, last)
      await client.call('CLUSTER', 'MEET', servers[0]!.host, servers[0]!.port, busPorts[0]!)
    }
    for (const client of clients)
      await until('the cluster is complete', () => isComplete(client, clients.length))
  } finally {
    for (const client of clients) client.disconnect()
  }
  return {
    servers,
    async stop() {
      await Promise.all(servers.map(server => server.stop()))
    },
  }
}

async function isComplete(client: Redis, size: number): Promise<boolean> {
  const info = String(await client.call('CLUSTER', 'INFO'))
  return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${size}`)
}

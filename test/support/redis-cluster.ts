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
  // Without full coverage a state is ok before all slots are known.
  const complete = ['cluster_state:ok', `cluster_slots_ok:${SLOTS}`, `cluster_known_nodes:${size}`]
  return complete.every(line => info.includes(line))
}

/** Starts a replica of one of a cluster's masters, which takes over when the master is gone. */
export async function startClusterReplica(master: RedisServer): Promise<RedisServer> {
  const replica = await startRedis({
    config: {
      'cluster-enabled': 'yes',
      'cluster-port': String(await freePort()),
      'cluster-node-timeout': '2000',
      'repl-diskless-sync-delay': '0',
    },
  })
  const [source, admin] = [new Redis(master.url), new Redis(replica.url)]
  try {
    const id = String(await source.call('CLUSTER', 'MYID'))
    const own = String(await source.call('CLUSTER', 'NODES'))
      .split('\n')
      .find(line => line.includes('myself'))
    const busPort = own!.split('@')[1]!.split(/[ ,]/)[0]!
    await admin.call('CLUSTER', 'MEET', master.host, master.port, busPort)
    await until('the replica knows its master', async () =>
      String(await admin.call('CLUSTER', 'NODES')).includes(id),
    )
    await admin.call('CLUSTER', 'REPLICATE', id)
    await until('the replica is online', async () =>
      (await source.info('replication')).includes('state=online'),
    )
  } finally {
    for (const client of [source, admin]) client.disconnect()
  }
  return replica
}

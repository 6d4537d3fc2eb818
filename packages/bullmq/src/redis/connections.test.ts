import { Cluster } from 'ioredis'
import { expect, test } from 'vitest'
import { limitsOf } from '../engine/lease-limits.ts'
import { connector, disconnect, FOR_DELIVERIES, forWork } from './connections.ts'

test.each([
  ['deliveries', FOR_DELIVERIES],
  ['the worker', forWork(limitsOf(11_000))],
])(
  'the connections for %s read from the masters of a cluster, and connect to a node only for a command',
  async (_, use) => {
    const users = new Cluster([{ host: '127.0.0.1', port: 1 }], { scaleReads: 'slave', lazyConnect: true })
    const connect = await connector(users)
    const ours = connect(use)
    try {
      expect(ours['options']).toMatchObject({ scaleReads: 'master', redisOptions: { lazyConnect: true } })
    } finally {
      disconnect(ours)
      users.disconnect()
    }
  },
)

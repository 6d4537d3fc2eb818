import { execFileSync } from 'node:child_process'
import { Redis as Redis6 } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { expect, test } from 'vitest'
import { startRedis } from '../../../test/support/redis.ts'
import { connector, disconnect, FOR_DELIVERIES } from '../src/redis/connections.ts'
import { until } from './parts.ts'

const SOCKET_TIMEOUT_MS = 1000
/** Waits for a reply. Redis replies in order of arrival, so all earlier commands have theirs by then. */
const ASK = `
const socket = require('node:net').connect(process.argv[1], '127.0.0.1')
socket.on('data', () => process.exit()).write('PING\\r\\n')`

test.each([
  ['ioredis 5', Redis5 as unknown as typeof Redis6],
  ['ioredis 6', Redis6],
])(
  'with %s, a reply that arrives while the event loop is blocked is read, however late',
  async (_, Client) => {
    const server = await startRedis()
    const users = new Client(server.url, { lazyConnect: true })
    const connect = await connector(users)
    const ours = connect({ ...FOR_DELIVERIES, socketTimeout: SOCKET_TIMEOUT_MS })
    try {
      await until(() => ours['status'] === 'ready')
      // After an immediate, Node runs the timers before it reads from the network.
      await new Promise(resolve => setImmediate(resolve))
      const answer = ours['ping']()
      const sentAt = performance.now()
      while (performance.now() - sentAt <= SOCKET_TIMEOUT_MS)
        execFileSync(process.execPath, ['-e', ASK, String(server.port)])
      expect(await answer).toBe('PONG')
    } finally {
      disconnect(ours)
      users.disconnect()
      await server.stop()
    }
  },
  30_000,
)

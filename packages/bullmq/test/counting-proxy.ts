import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * Starts a proxy between a client and its server that counts the bytes from the server. It ends the first `refuses`
 * connections at once, as in front of a server that is not ready.
 */
export async function startCountingProxy(targetPort: number, { refuses = 0 } = {}) {
  const sockets = new Set<Socket>()
  let received = 0
  let refused = 0
  const server = createServer(client => {
    if (refused < refuses) {
      refused++
      client.destroy()
      return
    }
    const upstream = connect(targetPort, '127.0.0.1')
    upstream.on('data', ({ length }) => {
      received += length
    })
    upstream.pipe(client).pipe(upstream)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    received: () => received,
    refused: () => refused,
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface ReplyDroppingProxy {
  readonly port: number
  /** Number of reply chunks that the server sent and the client never received. */
  readonly dropped: number
  /** Drops the reply to the next request that contains `text`, whatever the rate. */
  dropReplyTo(text: string): void
  stop(): Promise<void>
}

/**
 * Proxies between a client and a server. Drops every `1 / rate`-th reply chunk and closes the connection: the server has
 * executed the commands by then, but the client cannot know.
 */
export async function startReplyDroppingProxy(targetPort: number, rate: number): Promise<ReplyDroppingProxy> {
  const sockets = new Set<Socket>()
  const every = Math.round(1 / rate)
  let chunks = 0
  let dropped = 0
  let unanswered: string | undefined
  const server = createServer(client => {
    const upstream = connect(targetPort, '127.0.0.1')
    const close = () => {
      client.destroy()
      upstream.destroy()
      sockets.delete(client)
      sockets.delete(upstream)
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', close)
      socket.on('close', close)
      socket.setNoDelay(true)
    }
    let unlucky = false
    client.on('data', chunk => {
      if (unanswered !== undefined && chunk.includes(unanswered)) {
        unlucky = true
        unanswered = undefined
      }
      upstream.write(chunk)
    })
    // The first reply belongs to a new connection's greeting. Dropping it would only cause a delay.
    let greeted = false
    upstream.on('data', chunk => {
      if (unlucky || (greeted && ++chunks % every === 0)) {
        dropped++
        close()
      } else {
        greeted = true
        client.write(chunk)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    get dropped() {
      return dropped
    },
    dropReplyTo(text) {
      unanswered = text
    },
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

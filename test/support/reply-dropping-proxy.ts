import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface ReplyDroppingProxy {
  readonly port: number
  /** Chunks of replies that the server gave and the client never saw. */
  readonly dropped: number
  /** Throws away the reply to the next request that contains `text`, whatever the rate. */
  dropReplyTo(text: string): void
  stop(): Promise<void>
}

/**
 * Stands between a client and a server. It throws every `1 / rate`-th chunk of replies away and closes the
 * connection: by then the server has executed the commands, and the client cannot know.
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
    // The first reply answers the greeting of a new connection. Dropping that would only delay it.
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

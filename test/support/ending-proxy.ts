import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Ends connections to a PostgreSQL as its server does when it stops: at once after a reply, in the same packet. */
export interface EndingProxy {
  readonly port: number
  /** Connections that were ended so far. */
  readonly ended: number
  /**
   * Ends each connection that is made from now on: after the reply with this number, of which 1 says that the connection
   * is ready. `undefined`: no more.
   */
  endAfter(reply: number | undefined): void
  stop(): Promise<void>
}

const READY_FOR_QUERY = 'Z'.charCodeAt(0)

/** What a PostgreSQL sends that ends a connection. */
const TERMINATED = messageOf(
  'E',
  ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command', '']
    .map(field => `${field}\0`)
    .join(''),
)

export async function startEndingProxy(targetPort: number): Promise<EndingProxy> {
  const sockets = new Set<Socket>()
  let last: number | undefined
  let ended = 0
  const server = createServer(client => {
    const upstream = connect(targetPort, '127.0.0.1')
    let left = last
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('error', () => {}).on('close', () => to.destroy() && sockets.delete(from))
    }
    client.on('data', chunk => void upstream.write(chunk))
    let unread: Buffer = Buffer.alloc(0)
    upstream.on('data', (chunk: Buffer) => {
      if (left === undefined) return void client.write(chunk)
      unread = Buffer.concat([unread, chunk])
      let at = 0
      while (at + 5 <= unread.length && at + 1 + unread.readInt32BE(at + 1) <= unread.length && left > 0) {
        if (unread[at] === READY_FOR_QUERY) left--
        at += 1 + unread.readInt32BE(at + 1)
      }
      if (left > 0) {
        client.write(unread.subarray(0, at))
        unread = unread.subarray(at)
        return
      }
      ended++
      client.end(Buffer.concat([unread.subarray(0, at), TERMINATED]))
      upstream.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    get ended() {
      return ended
    },
    endAfter(reply) {
      last = reply
    },
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

function messageOf(type: string, text: string): Buffer {
  const message = Buffer.alloc(5 + Buffer.byteLength(text))
  message.write(type)
  message.writeInt32BE(message.length - 1, 1)
  message.write(text, 5)
  return message
}

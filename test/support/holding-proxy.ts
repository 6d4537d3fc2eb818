import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface HoldingProxy {
  readonly port: number
  /** Passes on `chunks` more chunks of requests, and holds back everything after them. */
  holdAfter(chunks: number): void
  /** True while something is held back. */
  readonly holding: boolean
  /** Passes on the held chunks, and everything after them. */
  release(): void
  stop(): Promise<void>
}

/**
 * Proxies between a client and a server, and can hold the client after any number of its steps, like a process that gets
 * no processor time.
 */
export async function startHoldingProxy(targetPort: number): Promise<HoldingProxy> {
  const sockets = new Set<Socket>()
  let left = Number.POSITIVE_INFINITY
  let held: (() => void)[] = []
  const server = createServer(client => {
    const upstream = connect(targetPort, '127.0.0.1')
    const close = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', close)
      socket.on('close', close)
      socket.setNoDelay(true)
    }
    upstream.on('data', chunk => client.write(chunk))
    client.on('data', chunk => {
      const pass = () => void upstream.write(chunk)
      if (left-- > 0) pass()
      else held.push(pass)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    holdAfter(chunks) {
      left = chunks
    },
    get holding() {
      return held.length > 0
    },
    release() {
      left = Number.POSITIVE_INFINITY
      for (const pass of held) pass()
      held = []
    },
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

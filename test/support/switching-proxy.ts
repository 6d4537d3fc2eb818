import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface SwitchingProxy {
  readonly port: number
  /** Sends new connections to this port. Open ones stay, as after a DNS change. */
  switchTo(port: number): void
  /** Silences open connections without closing them, like a network device that has forgotten them. */
  silence(): void
  stop(): Promise<void>
}

/**
 * Proxies between a client and its servers, like one address for several servers. `delayMs`: latency in each direction.
 */
export async function startSwitchingProxy(
  targetPort: number,
  { delayMs = 0 }: { readonly delayMs?: number } = {},
): Promise<SwitchingProxy> {
  const afterDelay = (carry: () => void): void => void (delayMs === 0 ? carry() : setTimeout(carry, delayMs))
  const sockets = new Set<Socket>()
  let target = targetPort
  let generation = 0
  const server = createServer(client => {
    const born = generation
    const upstream = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('data', chunk => {
        if (born === generation) afterDelay(() => to.write(chunk))
      })
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        if (born === generation) afterDelay(() => to.destroy())
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    switchTo(port) {
      target = port
    },
    silence() {
      generation++
    },
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

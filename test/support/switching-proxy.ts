import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface SwitchingProxy {
  readonly port: number
  /** Sends new connections to this port. Open ones stay, as after a DNS change. */
  switchTo(port: number): void
  /** Delays everything from now on by this much in each direction. */
  delay(ms: number): void
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
  let currentMs = delayMs
  /** Carries in order, even while the delay changes. */
  const inOrder = (): ((carry: () => void) => void) => {
    const queue: { readonly at: number; readonly carry: () => void }[] = []
    let isWaiting = false
    const run = (): void => {
      while (queue.length > 0 && queue[0]!.at <= performance.now()) queue.shift()!.carry()
      isWaiting = queue.length > 0
      if (isWaiting) setTimeout(run, queue[0]!.at - performance.now())
    }
    return carry => {
      queue.push({ at: performance.now() + currentMs, carry })
      if (!isWaiting) run()
    }
  }
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
      const afterDelay = inOrder()
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
    delay(ms) {
      currentMs = ms
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

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { random } from './random.ts'

/** A network between a client and its server that ends connections when asked to. */
export interface CuttingProxy {
  readonly port: number
  /** Ends about half of the open connections: with a reset, with an end, or in the middle of the next reply. */
  cut(): void
  stop(): Promise<void>
}

const WAYS = ['reset', 'end', 'middle'] as const

export async function startCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  const clients = new Map<Socket, (way: (typeof WAYS)[number]) => void>()
  const server = createServer(client => {
    const upstream = connect(targetPort, '127.0.0.1')
    let isLast = false
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.setNoDelay(true).on('error', () => {})
      from.on('close', () => {
        clients.delete(client)
        to.destroy()
      })
    }
    client.on('data', chunk => void upstream.write(chunk))
    upstream.on('data', chunk => {
      if (!isLast) return void client.write(chunk)
      client.end(chunk.subarray(0, Math.ceil(chunk.length / 2)))
      upstream.destroy()
    })
    clients.set(client, way => {
      if (way === 'reset') client.resetAndDestroy()
      else if (way === 'end') client.end()
      else isLast = true
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      for (const end of clients.values()) if (random() < 0.5) end(WAYS[Math.floor(random() * WAYS.length)]!)
    },
    async stop() {
      server.close()
      for (const client of clients.keys()) client.destroy()
      await once(server, 'close')
    },
  }
}

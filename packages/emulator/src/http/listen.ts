import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ConfigurationError } from '@ackhook/core'

/** Time limits for a request's headers, and for the whole request. */
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 60_000
const LOOPBACKS = ['127.0.0.1', '::1']
/** Maximum number of tries, as a free port of one address may be in use on the other. */
const MAX_TRIES = 10

export interface Listening {
  readonly port: number
  close(): Promise<void>
}

/** Listens on one address, or on both loopback addresses with the same port. Rejects with `ConfigurationError`. */
export async function listen(
  listener: RequestListener,
  port: number,
  host: string | undefined,
): Promise<Listening> {
  for (let tries = 1; ; tries++) {
    const servers: Server[] = []
    try {
      for (const address of host === undefined ? LOOPBACKS : [host]) {
        const first = servers[0]
        await open(listener, first === undefined ? port : portOf(first), address, servers)
      }
      const [first] = servers
      if (first === undefined) throw new ConfigurationError('host', 'neither 127.0.0.1 nor ::1 is available')
      return { port: portOf(first), close: () => closeAll(servers) }
    } catch (error) {
      await closeAll(servers)
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (isTaken && port === 0 && tries < MAX_TRIES) continue
      if (isTaken)
        throw new ConfigurationError('port', `${port} is in use: choose another one, or 0 for a free one`)
      throw error
    }
  }
}

async function open(listener: RequestListener, port: number, host: string, servers: Server[]): Promise<void> {
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
    listener,
  )
  try {
    await new Promise<void>((resolve, reject) => {
      // Stays: a connection that cannot be accepted later, as without free files, must not end the process.
      server.on('error', reject)
      server.listen(port, host, () => resolve())
    })
    servers.push(server)
  } catch (error) {
    // Machines without IPv6 or IPv4 have only one loopback address.
    const { code = '' } = error as NodeJS.ErrnoException
    if (!LOOPBACKS.includes(host) || !['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(code)) throw error
  }
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(
    servers.map(
      server =>
        new Promise(resolve => {
          server.close(resolve)
          server.closeAllConnections()
        }),
    ),
  )
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

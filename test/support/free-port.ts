import { once } from 'node:events'
import { createServer } from 'node:net'

/** Range below the ports for outgoing connections, one of which could take the port before the server does. */
const [FIRST, LAST] = [15_000, 32_000]

/** Returns a free port of the loopback address. Another process may take it first: try again. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST))
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}

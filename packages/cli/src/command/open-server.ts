import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UsageError } from './usage-error.ts'

/** Resolves with the address once the server listens. Rejects with `UsageError` if it cannot. */
export async function openServer(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((started, failed) => {
    // Stays: a connection that cannot be accepted later, as without free files, must not end the command.
    server.once('listening', started).on('error', error => failed(cannotListen(error, host, port)))
    server.listen(port, host)
  })
  const { port: actual } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${actual}`
}

function cannotListen(error: Error, host: string, port: number): UsageError {
  const busy = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
  const reason = busy ? 'the port is in use; choose another one with --port' : error.message
  return new UsageError(`cannot listen on ${host}:${port}: ${reason}`, { cause: error })
}

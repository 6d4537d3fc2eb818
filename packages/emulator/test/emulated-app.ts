import { createServer } from 'node:http'
import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { expect, vi } from 'vitest'
import { startPatientEmulator } from '../../../test/support/patient-emulator.ts'
import type { Emulator, EmulatorOptions } from '../src/index.ts'

export const APP_SECRET = 'whsec_emulator_pages_0123456789'

export interface EmulatedApp {
  readonly emulator: Emulator
  /** Ids of handled events, in order. */
  readonly handled: string[]
  /** Status that replaces the receiver's reply. */
  status: number | undefined
  /** Statuses of the next replies, before `status`. */
  readonly next: number[]
  close(): Promise<void>
}

/** Starts an emulator that delivers to a real receiver with the same clock. */
export async function startEmulatedApp(options: EmulatorOptions = {}): Promise<EmulatedApp> {
  const handled: string[] = []
  const next: number[] = []
  const { clock = Date.now } = options
  const receiver = createReceiver({ secret: APP_SECRET, clock, logger: { info() {}, warn() {}, error() {} } })
  receiver.on('*', event => handled.push(event.id))
  const handler = toNodeHandler(receiver)
  const server = createServer((request, response) => {
    const status = next.shift() ?? app.status
    if (status === undefined) handler(request, response)
    else
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(status === 401 ? '{"code":"unauthorized"}' : '{}')
  }).listen(0, '127.0.0.1')
  await vi.waitFor(() => expect(server.address()).not.toBeNull())
  const to = `http://127.0.0.1:${(server.address() as { port: number }).port}/webhooks`
  const emulator = await startPatientEmulator({ port: 0, to, secret: APP_SECRET, seed: 1, ...options })
  const app: EmulatedApp = {
    ...{ emulator, handled, next, status: undefined },
    async close() {
      await emulator.close()
      server.closeAllConnections()
      server.close()
    },
  }
  return app
}

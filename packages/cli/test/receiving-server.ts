import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReceiver, type ReceiverOptions, type WebhookEvent } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'

export interface ReceivingServer {
  readonly url: string
  readonly handled: readonly WebhookEvent[]
  /** Actual reasons for refusals. */
  readonly refusals: readonly string[]
  close(): Promise<void>
}

const SILENT = { info() {}, warn() {}, error() {} }

/** Starts a real receiver behind `node:http` on a free port. */
export async function startReceiver(
  secret: string,
  options: Partial<ReceiverOptions> = {},
): Promise<ReceivingServer> {
  const handled: WebhookEvent[] = []
  const refusals: string[] = []
  const receiver = createReceiver({
    secret,
    logger: SILENT,
    observe: seen => {
      if (seen.kind === 'rejected') refusals.push(seen.code)
    },
    ...options,
  })
  receiver.on('*', event => {
    handled.push(event)
  })
  const server = createServer(toNodeHandler(receiver)).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    handled,
    refusals,
    async close() {
      server.closeAllConnections()
      server.close()
      await receiver.close({ timeout: '1s' })
    },
  }
}

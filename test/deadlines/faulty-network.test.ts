import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bullmqInbox } from '@ackhook/bullmq'
import { Client } from '@ackhook/client'
import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { dashboard } from '@ackhook/dashboard'
import { startEmulator } from '@ackhook/emulator'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { redisEngine } from '../../packages/bullmq/test/engines.ts'
import { requireServer } from '../../packages/cli/src/conformance/load-suite.ts'
import { EmulatorClient } from '../../packages/cli/src/emulator/client.ts'
import { fakeTerminal } from '../../packages/cli/test/fake-terminal.ts'
import { NETWORK_FAULTS, type NetworkFault, startFaultyNetwork } from '../support/faulty-network.ts'

const SECRET = 'whsec_0123456789abcdef'
const SILENT = { info() {}, warn() {}, error() {} }
/** Limit of each call, in milliseconds: long enough for a delayed reply on a busy machine. */
const LIMIT_MS = 3000

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function startPlatform(to?: string) {
  const emulator = await startEmulator({
    port: 0,
    secret: SECRET,
    delivery: { timeout: `${LIMIT_MS}ms` },
    ...(to !== undefined && { to }),
  })
  onTestFinished(() => emulator.close())
  return emulator
}

/** A call through the network; returns what came of it, or throws what a user sees. */
type Call = (url: string) => Promise<unknown>

interface Caller {
  /** Starts the server that is called, and returns its port. */
  readonly server: () => Promise<number>
  readonly call: Call
  readonly says: Readonly<Record<NetworkFault, RegExp>>
}

const portOf = (url: string): number => Number(new URL(url).port)
const app = (): Promise<number> => {
  const receiver = createReceiver({ secret: SECRET })
  receiver.on('*', () => {})
  return serve(toNodeHandler(receiver))
}
const platform = async (): Promise<number> => portOf((await startPlatform()).url)

const CALLERS: Readonly<Record<string, Caller>> = {
  'the client': {
    server: platform,
    call: url => {
      const client = new Client({ apiKey: 'any-key', baseUrl: url, timeout: `${LIMIT_MS}ms` })
      return client.messages.send({ channel: 'whatsapp', to: '+4915112345678', template: 'order_shipped' })
    },
    says: {
      stalls: /got no response within 3000 ms/,
      'drops the reply': /failed without a response/,
      delays: /"status":2\d\d/,
    },
  },
  'the emulator, of an app,': {
    server: app,
    call: async url => {
      const emulator = await startPlatform(`${url}/webhooks`)
      const { deliveries } = await emulator.api.send('conversation.resolved')
      const logOf = async () => (await emulator.api.deliveries.get(deliveries[0]?.id ?? '')).log
      await vi.waitFor(
        async () => expect(await logOf()).toMatchObject([{ durationMs: expect.any(Number) }]),
        30_000,
      )
      return logOf()
    },
    says: {
      stalls: /no reply within 3000 ms/,
      'drops the reply': /ECONNRESET|socket hang up/,
      delays: /202/,
    },
  },
  'ackhook emulator, of a running emulator,': {
    server: platform,
    call: url => new EmulatorClient(url, fakeTerminal(), LIMIT_MS).get('/health'),
    says: {
      stalls: /did not reply within 3 s\. The call may still take effect/,
      'drops the reply': /there is no emulator at .+ \(\w+\)/,
      delays: /"status":"ready"/,
    },
  },
  'ackhook conformance, of a receiver,': {
    server: app,
    call: async url => (await requireServer(url, { replyMs: LIMIT_MS })) ?? 'it responds',
    says: {
      stalls: /nothing responds at .+ within 3 s/,
      'drops the reply': /nothing responds at .+ \(\w+\)/,
      delays: /it responds/,
    },
  },
}

describe.each(Object.entries(CALLERS))('%s', (_name, { server, call, says }) => {
  it.each(NETWORK_FAULTS)('gets an answer or a true reason in time from a network that %s', async fault => {
    const network = await startFaultyNetwork(fault, await server())
    onTestFinished(() => network.stop())
    network.begin()
    const startedAt = performance.now()
    const came = await call(`http://127.0.0.1:${network.port}`).then(
      result => JSON.stringify(result),
      error => String(error),
    )
    expect(came).toMatch(says[fault])
    if (fault === 'stalls') expect(performance.now() - startedAt).toBeGreaterThan(LIMIT_MS - 100)
  })
})

describe('the dashboard, of its inbox,', () => {
  it.each(['stalls', 'delays'] as const)(
    'gets an answer or a true reason in time from a network that %s',
    async fault => {
      const redis = await redisEngine()
      onTestFinished(() => redis.stop())
      const network = await startFaultyNetwork(fault, redis.port)
      onTestFinished(() => network.stop())
      const inbox = bullmqInbox({ ...redis.optionsAt(network.port), queue: 'deadlines' })
      const receiver = createReceiver({ secret: SECRET, inbox, logger: SILENT })
      onTestFinished(async () => void (await receiver.close({ timeout: '100ms' })))
      await receiver.start()
      const pages = dashboard({ receiver, authorize: () => 'admin' })
      network.begin()
      for (const path of ['api/overview', 'api/letters', 'api/letters/groups']) {
        const reply = await pages.fetch(new Request(`http://app.test/ops/${path}`), undefined)
        const { error } = (await reply.json()) as { readonly error?: string }
        expect([path, reply.status, error]).toEqual(
          fault === 'stalls' ? [path, 503, 'inbox_unavailable'] : [path, 200, undefined],
        )
      }
    },
  )
})

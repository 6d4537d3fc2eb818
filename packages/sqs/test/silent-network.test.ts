import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type SqsServer, sqsClientAt, startSqs } from '../../../test/support/sqs.ts'
import { type SwitchingProxy, startSwitchingProxy } from '../../../test/support/switching-proxy.ts'
import { startReceiver } from './start-receiver.ts'

/** Time for a heal: 10 seconds and one poll, and a margin for a busy machine. */
const HEALED = { timeout: 45_000 }

let sqs: SqsServer
let silent: Server
const silentSockets = new Set<{ destroy(): void }>()
const proxies: SwitchingProxy[] = []
beforeAll(async () => {
  sqs = await startSqs()
  // Accepts connections, and swallows everything.
  silent = createServer(socket => void silentSockets.add(socket.on('error', () => {}).resume()))
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
})
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.stop()
})
afterAll(async () => {
  for (const socket of silentSockets) socket.destroy()
  silent.close()
  await sqs.stop()
})

const portOf = (url: string): number => Number(new URL(url).port)

/** Starts a receiver whose client reaches SQS only through a proxy. */
async function start() {
  const proxy = await startSwitchingProxy(portOf(sqs.endpoint))
  proxies.push(proxy)
  const client = sqsClientAt(`http://127.0.0.1:${proxy.port}`)
  const one = await startReceiver({ sqs, inbox: { client } })
  return {
    ...one,
    /** Loses every byte on open and new connections. */
    swallow() {
      proxy.silence()
      proxy.switchTo((silent.address() as AddressInfo).port)
    },
    /** Brings the path back for new connections. Those of before stay silent. */
    restore() {
      proxy.silence()
      proxy.switchTo(portOf(sqs.endpoint))
    },
  }
}

it('handles events again after a network that swallowed everything, and logs it', async () => {
  const { send, receiver, runs, kinds, codes, swallow, restore } = await start()
  // Opens a connection for each of these, and leaves it with the client.
  const ids = Array.from({ length: 12 }, (_, at) => `evt_${at}`)
  await Promise.all(ids.map(id => send(id)))
  await expect.poll(() => runs.length, HEALED).toBe(12)
  swallow()
  await expect
    .poll(() => kinds('store_down').some(one => 'operation' in one && one.operation === 'receive'), HEALED)
    .toBe(true)
  await expect.poll(codes, HEALED).toContain('store_down')
  expect(await send('evt_lost')).toMatchObject({ status: 503 })
  restore()
  await expect.poll(async () => (await send('evt_again')).status, HEALED).toBe(202)
  await expect.poll(() => runs, HEALED).toContain('evt_again#1')
  await receiver.close({ timeout: '1ms' })
})

it('ends every call that SQS does not answer', async () => {
  const { receiver, swallow, send } = await start()
  await receiver.start()
  swallow()
  await expect(Promise.resolve(receiver.stats())).rejects.toThrow(
    /GetQueueAttributes of SQS queue .* did not respond/,
  )
  expect(await send('evt_1')).toMatchObject({ status: 503, code: 'inbox_unavailable' })
  const closing = performance.now()
  await receiver.close({ timeout: '1s' })
  expect(performance.now() - closing).toBeLessThan(HEALED.timeout)
})

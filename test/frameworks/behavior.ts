import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReceiver, type ReceiverOptions } from '@ackhook/core'
import { sign } from '@ackhook/testing'
import { expect, it, onTestFinished } from 'vitest'

export const SECRET = 'whsec_frameworks_0123456789'
const quiet = { info() {}, warn() {}, error() {} }

type Options = ReceiverOptions<Record<never, never>, never>
type AnyReceiver = ReturnType<typeof createReceiver<Record<never, never>, never>>

/** Options for a receiver or an adapter, and a function that registers the test's handler on it. */
export interface Setting {
  readonly options: Options
  setUp(receiver: Pick<AnyReceiver, 'on' | 'close'>): void
}

/** Starts a server of the framework and returns the address of the webhook route. */
export type Start = (setting: Setting) => Promise<string>

/** Declares tests from the sender's view, whatever calls the handler. */
export function behaves(start: Start): void {
  const setting = (handler: () => void, options: Partial<Options> = {}): Setting => ({
    options: { secret: SECRET, logger: quiet, ...options } as Options,
    setUp(receiver) {
      receiver.on('*', handler)
      onTestFinished(async () => void (await receiver.close()))
    },
  })

  it('accepts a genuine event with 202, and its handler gets it once', async () => {
    let handled = 0
    const url = await start(setting(() => void handled++))
    expect(await post(url)).toEqual([202, 'accepted'])
    await expect.poll(() => handled).toBe(1)
  })

  it('refuses a forged event with 401', async () => {
    const url = await start(setting(() => expect.unreachable('a handler ran')))
    expect(await post(url, 'whsec_somebody_elses_secret')).toEqual([401, 'unauthorized'])
  })

  it('returns 500 if the reply waits for a handler that fails', async () => {
    const fail = () => {
      throw new Error('the handler fails')
    }
    const url = await start(setting(fail, { acknowledge: 'after-processing' }))
    expect((await post(url))[0]).toBe(500)
  })
}

/** Creates a receiver and sets it up. */
export function receiverOf({ options, setUp }: Setting): AnyReceiver {
  const receiver = createReceiver(options)
  setUp(receiver)
  return receiver
}

/** Listens until the test ends, and returns the address of the webhook route. */
export async function listen(server: Server | RequestListener): Promise<string> {
  const listening = typeof server === 'function' ? createServer(server) : server
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    listening.closeAllConnections()
    listening.close()
  })
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}/webhooks`
}

/** Posts an event whose bytes no parser preserves, and returns the reply's status and code. */
export async function post(
  url: string,
  key: string = SECRET,
  { id = 'evt_1', note = '' } = {},
): Promise<readonly [status: number, code: unknown]> {
  const data = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai', note }
  const event = { id, type: 'conversation.resolved', created_at: '2026-01-01T00:00:00Z', data }
  const body = `${JSON.stringify(event, undefined, 2)}\n`
  const headers = { 'content-type': 'application/json', 'x-service-signature': sign(body, { secret: key }) }
  const signal = AbortSignal.timeout(20_000)
  const reply = await fetch(url, { method: 'POST', body, headers, signal })
  const text = await reply.text()
  return [reply.status, (JSON.parse(text) as { code: unknown }).code]
}

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DeliveryDetail, DeliveryView, WaitResult } from '@ackhook/emulator'
import { expect, it, onTestFinished } from 'vitest'
import { startEmulatorProcess } from '../faults/emulator/emulator-process.ts'
import { inFull } from '../support/in-full.ts'

const EVENTS = inFull(800, 200)
const ATTEMPTS = 8
const REPLY_BYTES = 60_000
const MIB = 1024 * 1024

it.runIf(process.platform === 'linux')(
  'an emulator whose receiver answers 60 KB to every attempt stays below 150 MB, and keeps what each says',
  async () => {
    // Each reply is another one. Equal ones would be kept once.
    const receiver = createServer((request, response) => {
      request.resume().on('end', () => {
        const text = randomBytes(REPLY_BYTES / 2).toString('hex')
        response.writeHead(500, { 'content-type': 'text/plain' }).end(`the CRM refused ${text}`)
      })
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    onTestFinished(() => {
      receiver.closeAllConnections()
      receiver.close()
    })
    const to = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhooks`
    const delivery = { attempts: ATTEMPTS, minDelay: '1ms', maxDelay: '1ms' } as const
    const emulator = await startEmulatorProcess({ port: 0, to, secret: 'whsec_memory_0123456789', delivery })
    onTestFinished(() => emulator.kill())
    const call = async <T>(path: string, body?: object): Promise<T> => {
      const init = {
        method: 'POST',
        headers: { 'x-ackhook': '1', 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }
      const reply = await fetch(`${emulator.url}/_emulator/v1${path}`, body === undefined ? {} : init)
      expect(reply.ok).toBe(true)
      return (await reply.json()) as T
    }
    const events = Array.from({ length: EVENTS }, (_, n) => ({ type: 'a.b', id: `evt_${n}` }))
    await call('/events', { events })
    for (let isMet = false; !isMet; )
      isMet = (await call<WaitResult>('/wait', { state: 'undelivered', count: EVENTS, timeout: '60s' })).met
    const rss =
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${emulator.pid}/status`, 'utf8'))?.[1]) * 1024
    expect(rss / MIB).toBeLessThan(150)
    const logOf = async (order: 'oldest' | 'newest') => {
      const list = await call<{ deliveries: DeliveryView[] }>(`/deliveries?order=${order}&limit=1`)
      return (await call<DeliveryDetail>(`/deliveries/${list.deliveries[0]?.id}`)).log
    }
    const oldest = await logOf('oldest')
    expect(oldest).toHaveLength(ATTEMPTS)
    for (const { replyBody, truncated } of oldest) {
      expect(replyBody.text).toMatch(/^the CRM refused /)
      expect([replyBody.text.length, truncated]).toEqual([1024, true])
    }
    expect((await logOf('newest')).at(-1)).toMatchObject({ truncated: false })
  },
)

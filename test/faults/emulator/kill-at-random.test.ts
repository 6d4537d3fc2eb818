import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WaitResult } from '@ackhook/emulator'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { random } from '../../support/random.ts'
import { scaled } from '../inbox/workspace.ts'
import { type EmulatorProcess, startEmulatorProcess } from './emulator-process.ts'

const EVENTS = scaled(1000, 150)
const KILLS = scaled(20, 3)
const CONCURRENCY = 8

/** Numbers of arrivals and of 2xx replies, by event id. */
const arrived = new Map<string, number>()
const acknowledged = new Map<string, number>()
const add = (counts: Map<string, number>, id: string) => counts.set(id, (counts.get(id) ?? 0) + 1)

// Each event fails on its first two arrivals, so that retries are in progress whenever the emulator is killed.
const receiver = createServer((request, response) => {
  let body = ''
  request.on('data', part => {
    body += part
  })
  request.on('end', () => {
    const { id } = JSON.parse(body) as { id: string }
    add(arrived, id)
    const isGood = (arrived.get(id) ?? 0) > 2
    response.writeHead(isGood ? 202 : 503).end(() => {
      if (isGood) add(acknowledged, id)
    })
  })
})

let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ackhook-emulator-'))
  receiver.listen(0, '127.0.0.1')
  await new Promise(resolve => receiver.once('listening', resolve))
})
afterAll(() => {
  receiver.closeAllConnections()
  receiver.close()
  rmSync(folder, { recursive: true, force: true })
})

async function call<T>(url: string, path: string, body: object): Promise<T> {
  const reply = await fetch(`${url}/_emulator/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-ackhook': '1' },
    body: JSON.stringify(body),
  })
  if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`)
  return (await reply.json()) as T
}

it(`loses none of ${EVENTS} deliveries with retries when it is killed ${KILLS} times`, {
  timeout: 600_000,
}, async () => {
  const options = {
    port: 0,
    seed: 5,
    data: join(folder, 'emulator.db'),
    to: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhooks`,
    secret: 'whsec_test_0123456789abcdef',
    delivery: { attempts: 100, minDelay: '50ms', maxDelay: '400ms', concurrency: CONCURRENCY },
  } as const
  let current: EmulatorProcess = await startEmulatorProcess(options)
  const sent: string[] = []
  const batch = Math.ceil(EVENTS / KILLS)
  for (let kill = 0; kill < KILLS; kill++) {
    const events = Array.from({ length: Math.min(batch, EVENTS - sent.length) }, () => ({
      type: 'conversation.resolved',
    }))
    // A reply means that the events are stored; a request that a kill interrupts promises nothing.
    const taken = await call<{ events: { id: string }[] }>(current.url, '/events', { events })
    sent.push(...taken.events.map(one => one.id))
    await sleep(20 + random() * 250)
    await current.kill()
    current = await startEmulatorProcess(options)
  }
  let idle: WaitResult
  do idle = await call<WaitResult>(current.url, '/wait', { idle: true, timeout: '60s' })
  while (!idle.met)
  const { counts } = (await (await fetch(`${current.url}/_emulator/v1/health`)).json()) as {
    counts: Record<string, number>
  }
  expect(sent).toHaveLength(EVENTS)
  expect(counts).toMatchObject({ acknowledged: EVENTS, pending: 0, undelivered: 0 })
  expect(sent.filter(id => !acknowledged.has(id))).toEqual([])
  expect([...arrived.keys()].filter(id => !sent.includes(id))).toEqual([])
  // Only deliveries in flight at the moment of a kill are repeated.
  const repeated = [...acknowledged.values()].reduce((sum, times) => sum + times - 1, 0)
  expect(repeated).toBeLessThanOrEqual(KILLS * CONCURRENCY)
  await current.kill()
})

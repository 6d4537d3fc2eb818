import { createHmac } from 'node:crypto'
import { createReceiver, type DedupeStore, memoryStore, type WebhookReply } from '@ackhook/core'
import { sign } from '@ackhook/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { SEED } from '../support/random.ts'
import { eventBody, SECRET } from '../support/receiving.ts'

const NOW = 1_767_225_600_000
const T = String(NOW / 1000)
const BODY = Buffer.from(eventBody())
const HEADER = sign(BODY, { secret: SECRET, timestamp: T })
const REFUSALS = [400, 401, 405, 408, 413, 415, 422]

const faults: unknown[] = []
const note = (fault: unknown) => void faults.push(fault)

beforeAll(() => {
  process.on('unhandledRejection', note)
  process.on('uncaughtExceptionMonitor', note)
})
afterAll(() => {
  process.off('unhandledRejection', note)
  process.off('uncaughtExceptionMonitor', note)
})

/** Creates a receiver whose store counts every call. */
function spied() {
  const inner = memoryStore()
  const store: DedupeStore = {
    claim: vi.fn(inner.claim),
    extend: vi.fn(inner.extend),
    complete: vi.fn(inner.complete),
    release: vi.fn(inner.release),
    forget: vi.fn(inner.forget),
    start: vi.fn(),
  }
  const calls = () =>
    Object.values(store).reduce(
      (sum, method) => sum + (method as ReturnType<typeof vi.fn>).mock.calls.length,
      0,
    )
  const quiet = { info() {}, warn() {}, error() {} }
  const receiver = createReceiver({ secret: SECRET, store, clock: () => NOW, logger: quiet })
  receiver.on('*', () => {})
  const send = (signature: string | undefined, body: Uint8Array): Promise<WebhookReply> =>
    receiver.handle({
      method: 'POST',
      headers: signature === undefined ? {} : { 'x-service-signature': signature },
      body,
      context: undefined,
    })
  return { calls, send }
}

/** A change to a text: a part removed, inserted, doubled or replaced. */
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat({ max: 70 }),
  text: fc.oneof(
    fc.string({ maxLength: 4 }),
    fc.constantFrom(
      ',',
      '=',
      't=',
      'v1=',
      ' ',
      '\t',
      `t=${T}`,
      `v1=${'0'.repeat(64)}`,
      'v1=,',
      '\u0000',
      'é',
      '٣',
    ),
    fc.string({ minLength: 1, maxLength: 64, unit: fc.constantFrom(...'0123456789abcdefABCDEF') }),
  ),
})
const edited = (text: string, edits: readonly { at: number; length: number; text: string }[]) => {
  let result = text
  for (const { at, length, text: put } of edits) {
    const start = Math.floor(at * (result.length + 1))
    result = result.slice(0, start) + put + result.slice(start + length)
  }
  return result
}

const anyHeader = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(edit, { minLength: 1, maxLength: 4 }).map(edits => edited(HEADER, edits)),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 300 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }) },
  {
    weight: 2,
    arbitrary: fc
      .array(
        fc.tuple(
          fc.constantFrom('t', 'v1', 'v0', 'T', ''),
          fc.oneof(fc.string({ maxLength: 70 }), fc.constantFrom(T, '0'.repeat(64), 'NaN', '1e9')),
        ),
        { maxLength: 20 },
      )
      .map(parts => parts.map(([name, value]) => `${name}=${value}`).join(',')),
  },
  { weight: 1, arbitrary: fc.constant(undefined) },
)

const anyBody = fc.oneof(
  { weight: 1, arbitrary: fc.constant(new Uint8Array(BODY)) },
  {
    weight: 2,
    arbitrary: fc
      .array(edit, { minLength: 1, maxLength: 3 })
      .map(edits => new Uint8Array(Buffer.from(edited(BODY.toString('latin1'), edits), 'latin1'))),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
)

/** Returns whether any v1 of a header is correct for any of its t, using only the published rule and createHmac. */
function isGenuine(header: string | undefined, body: Uint8Array): boolean {
  const parts = (header ?? '').split(',').map(part => part.trim())
  const times = parts.filter(part => part.startsWith('t=')).map(part => part.slice(2))
  return times.some(t => {
    const digest = createHmac('sha256', SECRET).update(`${t}.`).update(body).digest('hex')
    return parts.some(part => part.toLowerCase() === `v1=${digest}`)
  })
}

it('100,000 mutated headers and bodies: none accepted, no 5xx, nothing written', async () => {
  const { calls, send } = spied()
  const runs = 100_000
  let forged = 0
  const samples = fc.sample(fc.tuple(anyHeader, anyBody), { numRuns: runs, seed: SEED })
  for (const [header, body] of samples) {
    if (isGenuine(header, body)) continue
    forged++
    const { status } = await send(header, body)
    if (!REFUSALS.includes(status)) {
      throw new Error(`${status} for ${JSON.stringify(header)} over ${Buffer.from(body).toString('base64')}`)
    }
  }
  expect(forged).toBeGreaterThan(runs * 0.95)
  expect(calls()).toBe(0)
  await new Promise(resolve => setImmediate(resolve))
  expect(faults).toEqual([])
}, 120_000)

it('a genuine request among them would have been accepted', async () => {
  expect(isGenuine(HEADER, BODY)).toBe(true)
  const { calls, send } = spied()
  expect((await send(HEADER, BODY)).status).toBe(202)
  expect(calls()).toBeGreaterThan(0)
})

it('10,000 forged requests of every kind never reach the store', async () => {
  const { calls, send } = spied()
  const digest = (secret: string, t: string, body: Uint8Array) =>
    `t=${t},v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`
  const kinds = [
    (body: Uint8Array, i: number) => digest(`someone else ${i}`, T, body),
    (body: Uint8Array) => digest('', T, body),
    (_: Uint8Array, i: number) => digest(SECRET, T, Buffer.from(`another body ${i}`)),
    (body: Uint8Array, i: number) => digest(SECRET, String(NOW / 1000 - 301 - i), body),
    (body: Uint8Array, i: number) => digest(SECRET, String(NOW / 1000 + 301 + i), body),
    (body: Uint8Array) => digest(SECRET, 'NaN', body),
    () => undefined,
    () => '',
    (body: Uint8Array) => digest(SECRET, T, body).slice(0, -1),
    (body: Uint8Array) => `${digest(SECRET, T, body)}, ${digest(SECRET, T, body)}`,
  ]
  for (let i = 0; i < 10_000; i++) {
    const body = Buffer.from(eventBody({ id: `evt_${i}` }))
    const { status } = await send(kinds[i % kinds.length]?.(body, i), body)
    expect(status).toBe(401)
  }
  expect(calls()).toBe(0)
})

it('every single-bit change of the header is refused', async () => {
  const { calls, send } = spied()
  const header = Buffer.from(HEADER, 'latin1')
  let accepted = 0
  for (let bit = 0; bit < header.length * 8; bit++) {
    const changed = Buffer.from(header)
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
    const text = changed.toString('latin1')
    const { status } = await send(text, BODY)
    // A digit in the other case is the same digit.
    if (text.toLowerCase() === HEADER && /[A-F]/.test(text)) {
      expect([200, 202]).toContain(status)
      accepted++
    } else {
      expect([status, text]).toEqual([401, text])
    }
  }
  expect(accepted).toBe(HEADER.slice(HEADER.indexOf('v1=')).match(/[a-f]/g)?.length)
  expect(calls()).toBeGreaterThan(0)
})

it('every single-bit change of a body of 4 KiB is refused', async () => {
  const { calls, send } = spied()
  const exact = Buffer.from(eventBody({ padding: 'x'.repeat(4096 - eventBody({ padding: '' }).length) }))
  expect(exact.length).toBe(4096)
  const header = sign(exact, { secret: SECRET, timestamp: T })
  for (let bit = 0; bit < exact.length * 8; bit++) {
    const byte = bit >> 3
    exact[byte] = (exact[byte] as number) ^ (1 << (bit & 7))
    const { status } = await send(header, exact)
    exact[byte] = (exact[byte] as number) ^ (1 << (bit & 7))
    if (status !== 401) throw new Error(`bit ${bit}: ${status}`)
  }
  expect(calls()).toBe(0)
  expect((await send(header, exact)).status).toBe(202)
}, 60_000)

it('whatever a genuine sender signs, the reply is 202 or 400 and never an exception', async () => {
  const { send } = spied()
  const json = fc.json({ maxDepth: 4 }).map(text => Buffer.from(text))
  const nearly = fc
    .array(edit, { maxLength: 2 })
    .map(edits => Buffer.from(edited(BODY.toString('latin1'), edits), 'latin1'))
  const samples = fc.sample(fc.oneof(json, nearly, fc.uint8Array({ maxLength: 100 })), 5000)
  for (const body of samples) {
    const { status } = await send(sign(body, { secret: SECRET, timestamp: T }), body)
    expect([200, 202, 400]).toContain(status)
  }
  expect(faults).toEqual([])
})

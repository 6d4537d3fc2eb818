import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReceiver, type Observation, type ReceiverOptions } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { afterEach, expect, test } from 'vitest'
import {
  createEvent,
  createSender,
  fakeClock,
  post,
  type SenderOptions,
  seededRandom,
  signedRequest,
} from '../index.ts'

const secret = 'whsec_0123456789abcdef'
const next = 'whsec_fedcba9876543210'
const logger = { info() {}, warn() {}, error() {} }
const leftovers: (() => unknown)[] = []

afterEach(async () => {
  for (const stop of leftovers.splice(0).reverse()) await stop()
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  leftovers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
}

async function setUp(sending: Partial<SenderOptions> = {}, receiving: Partial<ReceiverOptions> = {}) {
  const clock = fakeClock('2026-03-01T12:00:00Z')
  const handled: string[] = []
  const seen: Observation[] = []
  const receiver = createReceiver({
    secret,
    logger,
    clock,
    observe: observation => seen.push(observation),
    ...(receiving as object),
  })
  receiver.on('*', event => {
    handled.push(event.id)
  })
  const url = await serve(toNodeHandler(receiver))
  leftovers.push(() => receiver.close({ timeout: '1s' }))
  const sender = createSender({ url, secret, clock, ...sending })
  leftovers.push(() => sender.close())
  const codes = () => seen.flatMap(one => ('code' in one ? [one.code] : []))
  return { clock, handled, sender, codes, receiver }
}

const events = (count: number) => {
  const random = seededRandom(99)
  return Array.from({ length: count }, () => createEvent('conversation.resolved', {}, { random }))
}

/** Replies with these statuses in turn, then repeats the last one. */
function answering(...answers: { status: number; headers?: Record<string, string> }[]): RequestListener {
  let count = 0
  return (request, response) => {
    const answer = answers[Math.min(count++, answers.length - 1)] as (typeof answers)[0]
    request.resume().on('end', () => response.writeHead(answer.status, answer.headers).end())
  }
}

test('an acknowledged event is sent once', async () => {
  const { sender, handled } = await setUp()
  const [event] = events(1)
  const report = await sender.send(event!)
  expect(report).toMatchObject({ outcome: 'acknowledged', attempts: [{ status: 202, code: 'accepted' }] })
  expect(handled).toEqual([event!.id])
  expect(sender.health()).toEqual({ status: 'healthy', failuresInARow: 0 })
})

test('anything but 2xx is retried with growing delays, redirects included', async () => {
  const clock = fakeClock(1.7e12)
  const url = await serve(
    answering({ status: 500 }, { status: 302, headers: { location: '/' } }, { status: 404 }, { status: 204 }),
  )
  const sender = createSender({ url, secret, clock, minDelay: '1s', factor: 4 })
  const { outcome, attempts } = await sender.send(events(1)[0]!)
  expect(outcome).toBe('acknowledged')
  expect(attempts.map(attempt => attempt.status)).toEqual([500, 302, 404, 204])
  const gaps = attempts.slice(1).map((attempt, i) => attempt.at - attempts[i]!.at)
  for (const [i, gap] of gaps.entries()) {
    expect(gap).toBeGreaterThanOrEqual((1000 * 4 ** i) / 2)
    expect(gap).toBeLessThanOrEqual(1000 * 4 ** i)
  }
})

test('a longer Retry-After is honored, in seconds and as a date, and can be ignored', async () => {
  const clock = fakeClock(1.7e12)
  const date = new Date(1.7e12 + 300_000).toUTCString()
  const listener = () =>
    answering(
      { status: 503, headers: { 'retry-after': '120' } },
      { status: 503, headers: { 'retry-after': date } },
      { status: 200 },
    )
  const polite = createSender({ url: await serve(listener()), secret, clock, minDelay: '1s' })
  const { attempts } = await polite.send(events(1)[0]!)
  expect(attempts.map(attempt => attempt.at - 1.7e12)).toEqual([0, 120_000, 300_000])
  const rude = createSender({
    url: await serve(listener()),
    secret,
    clock,
    minDelay: '1s',
    honorRetryAfter: false,
  })
  const retried = (await rude.send(events(1)[0]!)).attempts
  expect(retried[1]!.at - retried[0]!.at).toBeLessThanOrEqual(1000)
})

test('retries stop at the end of the window; the event stays undelivered and the endpoint unhealthy', async () => {
  const clock = fakeClock(1.7e12)
  let status = 500
  const url = await serve((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end())
  })
  const sender = createSender({ url, secret, clock, attempts: 50, retryWindow: '1h', unhealthyAfter: 3 })
  const report = await sender.send(events(1)[0]!)
  expect(report.outcome).toBe('undelivered')
  expect(report.attempts.at(-1)!.at - 1.7e12).toBeLessThanOrEqual(3_600_000)
  expect(report.attempts.length).toBeLessThan(50)
  expect(sender.undelivered()).toEqual([report])
  expect(sender.health().status).toBe('unhealthy')

  status = 200
  expect(await sender.replayUndelivered()).toMatchObject([{ outcome: 'acknowledged' }])
  expect(sender.undelivered()).toEqual([])
  expect(sender.health()).toEqual({ status: 'healthy', failuresInARow: 0 })
})

test('a late reply and a missing server are failed attempts that say why', async () => {
  const url = await serve(request => {
    request.resume()
  })
  const clock = fakeClock()
  const silent = createSender({ url, secret, clock, attempts: 1, timeout: '50ms' })
  expect((await silent.send(events(1)[0]!)).attempts).toMatchObject([{ error: 'no reply within 50 ms' }])
  const closed = createSender({ url: 'http://127.0.0.1:1/', secret, clock, attempts: 1 })
  const { error } = (await closed.send(events(1)[0]!)).attempts[0]!
  expect(error).toBe('ECONNREFUSED')
})

test('concurrent and later duplicates run the handlers once', async () => {
  const { sender, handled } = await setUp({ faults: { duplicate: true, concurrentDuplicate: true } })
  const sent = events(5)
  const reports = await sender.sendAll(sent, { concurrency: 5 })
  expect(reports.map(report => report.attempts.length >= 3)).toEqual(Array(5).fill(true))
  expect(handled.toSorted()).toEqual(sent.map(event => event.id).toSorted())
})

test('a tampered attempt is refused and the next one is acknowledged', async () => {
  const { sender, codes } = await setUp({ faults: { tamper: 0.5 }, seed: 3, attempts: 30 })
  const reports = await sender.sendAll(events(10))
  expect(reports.every(report => report.outcome === 'acknowledged')).toBe(true)
  const tampered = reports.flatMap(report => report.attempts).filter(one => one.faults.includes('tampered'))
  expect(tampered.length).toBeGreaterThan(0)
  expect(tampered.every(attempt => attempt.status === 401)).toBe(true)
  expect(codes().filter(code => code === 'signature_mismatch')).toHaveLength(tampered.length)
})

test('a stale timestamp is refused with the reason that an operator sees', async () => {
  const { sender, codes } = await setUp({ faults: { staleTimestamp: true }, attempts: 1 })
  expect((await sender.send(events(1)[0]!)).outcome).toBe('undelivered')
  expect(codes()).toEqual(['timestamp_too_old'])
})

test('retries with the first timestamp exceed the tolerance, unless it is as wide as the window', async () => {
  // A lost reply makes the sender repeat an accepted event ten minutes later.
  const faults = { frozenTimestamp: true, lostReply: 0.5 }
  const strict = await setUp({ faults, minDelay: '10m', attempts: 20, seed: 5 })
  const reports = await strict.sender.sendAll(events(6))
  expect(strict.codes()).toContain('timestamp_too_old')
  expect(reports.some(report => report.outcome === 'undelivered')).toBe(true)

  const wide = await setUp({ faults, minDelay: '10m', attempts: 20, seed: 5 }, { tolerance: '3d' })
  const delivered = await wide.sender.sendAll(events(6))
  expect(delivered.every(report => report.outcome === 'acknowledged')).toBe(true)
  expect(wide.codes()).not.toContain('timestamp_too_old')
})

test('a lost reply leads to a second request for an event that runs once', async () => {
  const { sender, handled } = await setUp({ faults: { lostReply: 0.5 }, seed: 11, attempts: 30 })
  const sent = events(10)
  const reports = await sender.sendAll(sent)
  const attempts = reports.flatMap(report => report.attempts)
  expect(attempts.some(attempt => attempt.code === 'duplicate')).toBe(true)
  expect(handled).toEqual(sent.map(event => event.id))
})

test('a reply in place of the receiver is a failed attempt that it never sees, for the next attempts only', async () => {
  const { sender, handled } = await setUp({ faults: { answer: 429, answerNext: 3 }, minDelay: '1s' })
  const [first, second] = await sender.sendAll(events(2))
  expect(first?.attempts.map(({ status, faults }) => [status, faults])).toEqual([
    ...Array(3).fill([429, ['answered']]),
    [202, []],
  ])
  expect(second?.attempts.map(attempt => attempt.status)).toEqual([202])
  expect(handled).toHaveLength(2)
})

test("an injected timeout or reset looks like a receiver's", async () => {
  const errors = async (answer: 'timeout' | 'reset') => {
    const { sender, codes } = await setUp({ faults: { answer }, attempts: 1, timeout: '20ms' })
    const { attempts } = await sender.send(events(1)[0]!)
    expect(codes()).toEqual([])
    return attempts.map(attempt => attempt.error)
  }
  expect(await errors('timeout')).toEqual(['no reply within 20 ms'])
  const closing = await serve(request => request.socket.destroy())
  const real = await createSender({ url: closing, secret, attempts: 1 }).send(events(1)[0]!)
  expect(await errors('reset')).toEqual(real.attempts.map(attempt => attempt.error))
})

test('a closed sender does not wait for an injected timeout', async () => {
  const { sender } = await setUp({ faults: { answer: 'timeout' }, timeout: '10m' })
  const sending = sender.send(events(1)[0]!)
  setImmediate(() => sender.close())
  expect((await sending).outcome).toBe('undelivered')
})

test('a reply is injected as often as its chance says, and the same way for a seed', async () => {
  const run = async (seed: number) => {
    const faults = { answer: 503, answerChance: 0.5 }
    const { sender } = await setUp({ faults, seed, attempts: 1 })
    return (await sender.sendAll(events(40))).map(({ outcome }) => outcome)
  }
  const outcomes = await run(3)
  const failed = outcomes.filter(one => one === 'undelivered').length
  expect(failed).toBeGreaterThan(8)
  expect(failed).toBeLessThan(32)
  expect(await run(3)).toEqual(outcomes)
})

test('during a rotation, deliveries fail at a receiver with one secret, and not at one with both', async () => {
  const faults = { rotation: { secret: next, after: 2, overlap: 2 } }
  const prepared = await setUp({ faults, attempts: 1 }, { secret: [secret, next] })
  const good = await prepared.sender.sendAll(events(6))
  expect(good.every(report => report.outcome === 'acknowledged')).toBe(true)

  const late = await setUp({ faults, attempts: 1 })
  const reports = await late.sender.sendAll(events(6))
  expect(reports.map(report => report.outcome)).toEqual([
    ...Array(4).fill('acknowledged'),
    ...Array(2).fill('undelivered'),
  ])
})

test('disorder changes the order of arrival but not the order of reports', async () => {
  const { sender, handled } = await setUp({ faults: { disorder: true, delay: '1s' } })
  const sent = events(12)
  const reports = await sender.sendAll(sent)
  const ids = sent.map(event => event.id)
  expect(reports.map(report => report.event.id)).toEqual(ids)
  expect(handled).not.toEqual(ids)
  expect(handled.toSorted()).toEqual(ids.toSorted())
})

test('a seed repeats the same faults, whatever runs at the same time; another seed does not', async () => {
  const run = async (seed: number) => {
    const { sender } = await setUp({
      seed,
      attempts: 20,
      faults: { tamper: 0.3, lostReply: 0.3, staleTimestamp: 0.2, duplicate: 0.3 },
    })
    const reports = await sender.sendAll(events(8), { concurrency: 4 })
    return reports.map(report => report.attempts.map(attempt => attempt.faults))
  }
  const first = await run(7)
  expect(await run(7)).toEqual(first)
  expect(await run(8)).not.toEqual(first)
})

test('a receiver that reads every unit accepts t in milliseconds and ISO 8601', async () => {
  for (const timestampUnit of ['milliseconds', 'iso8601'] as const) {
    const { sender } = await setUp({ timestampUnit, attempts: 1 })
    expect((await sender.send(events(1)[0]!)).outcome).toBe('acknowledged')
  }
})

test('closing ends a long wait', async () => {
  const url = await serve(answering({ status: 500 }))
  const sender = createSender({ url, secret, minDelay: '1h' })
  const report = sender.send(events(1)[0]!)
  await expect.poll(() => sender.health().failuresInARow).toBe(1)
  sender.close()
  expect((await report).outcome).toBe('undelivered')
})

test('a wrong option is named in the error, with the fix', () => {
  const url = 'http://127.0.0.1:1/'
  expect(() => createSender({ url: 'localhost', secret })).toThrow(/'url'.*http/)
  expect(() => createSender({ url, secret: '' })).toThrow(/'secret'/)
  expect(() => createSender({ url, secret, attempts: 0 })).toThrow(/'attempts'/)
  expect(() => createSender({ url, secret, faults: { tamper: 2 } })).toThrow(/'faults.tamper'.*0 to 1/)
  for (const answer of [200.5, 199, 600, '503', true]) {
    expect(() => createSender({ url, secret, faults: { answer } as never })).toThrow(
      /'faults.answer'.*200 to 599/,
    )
  }
  expect(() => createSender({ url, secret, faults: { answer: 503, answerNext: 0 } })).toThrow(
    /'faults.answerNext'/,
  )
  expect(() => createSender({ url, secret, faults: { answerChance: 0.5 } })).toThrow(
    /'faults.answer'.*is missing/,
  )
  const misspelled = { url, secret, retryWindows: '1h' }
  expect(() => createSender(misspelled)).toThrow(/'retryWindows'.*retryWindow/)
  expect(() => createSender({ url, secret, faults: { dupe: 1 } as never })).toThrow(
    /'faults.dupe'.*duplicate/,
  )
  expect(() => createSender({ url, secret, timestampUnit: 'second' as never })).toThrow(
    /'timestampUnit'.*'seconds'/,
  )
  expect(() => createSender({ url, secret, header: 'bad header' })).toThrow(/'header'.*HTTP header name/)
  expect(() => createSender({ url, secret, scheme: 't' })).toThrow(/'scheme'.*label/)
  expect(() => createSender({ url, secret, seed: Number.NaN })).toThrow(/'seed'/)
  expect(() => createSender({ url, secret, clock: 5 as never })).toThrow(/'clock'.*fakeClock/)
  expect(() => createSender({ url, secret, faults: { rotation: { secret: next } as never } })).toThrow(
    /'faults.rotation.after'/,
  )
  expect(() => createSender(undefined as never)).toThrow(/'options'.*url/)
})

test('a wrong concurrency rejects instead of sending nothing', async () => {
  const sender = createSender({ url: 'http://127.0.0.1:1/', secret, attempts: 1 })
  for (const concurrency of [0, -1, 1.5, Number.NaN]) {
    await expect(sender.sendAll(events(2), { concurrency })).rejects.toThrow(/'concurrency'.*whole number/)
  }
})

test('a password in an address is refused, and never printed', async () => {
  for (const url of ['http://me:hidden@127.0.0.1:1/', 'me:hidden@127.0.0.1:1']) {
    const refused = (() => createSender({ url, secret })) as () => void
    expect(refused).toThrow(/'url'/)
    expect(refused).not.toThrow(/hidden/)
  }
  const limits = { timeoutMs: 1000, signal: new AbortController().signal }
  const { error } = await post('http://me:hidden@127.0.0.1:1/', signedRequest('{}', { secret }), limits)
  expect(error).toMatch(/user name or password/)
  expect(error).not.toContain('hidden')
})

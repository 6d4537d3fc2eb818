import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import { fakeClock, sign } from '@ackhook/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Emulator, startEmulator } from '../src/index.ts'
import { after, answering, SECRET, start, temporaryFile } from './set-up.ts'

const events = (count: number, type = 'call.started') => Array.from({ length: count }, () => ({ type }))

describe('a data file', () => {
  test('is readable only by its owner, as are the files beside it', async () => {
    const data = temporaryFile()
    const { emulator } = await start({ data })
    await emulator.api.send('call.started')
    const modeOf = (path: string) => statSync(path).mode & 0o777
    expect(modeOf(data)).toBe(0o600)
    expect(modeOf(`${data}-wal`)).toBe(0o600)
    await emulator.close()
    chmodSync(data, 0o644)
    await start({ data })
    expect(modeOf(data)).toBe(0o600)
  })

  test('keeps all state, and the schedule continues', async () => {
    const data = temporaryFile()
    const receiver = await answering([500, 500])
    const clock = fakeClock('2026-03-01T12:00:00Z')
    const options = { port: 0, data, clock, seed: 7, delivery: { minDelay: '1m' } } as const
    const first = await startEmulator({ ...options, to: receiver.url, secret: SECRET })
    const { id, deliveries } = await first.api.send('conversation.resolved')
    await first.wait({ status: 500 })
    const before = await first.api.deliveries.get(deliveries[0]?.id ?? '')
    await first.api.workspaces.create('team-a')
    await first.close()

    const second = await startEmulator(options)
    after(() => second.close())
    expect(second.secret).toBeUndefined()
    expect(await second.api.deliveries.get(before.id)).toEqual(before)
    expect((await second.api.workspaces.list()).map(one => one.id)).toEqual(['default', 'team-a'])
    await second.api.clock.advance('29s')
    expect(receiver.got).toHaveLength(1)
    await second.api.clock.advance('10m')
    expect(receiver.got.map(one => one.event.id)).toEqual([id, id, id])
    const attempts = (await second.api.deliveries.get(before.id)).log
    expect(attempts[1]?.at).toBe(before.nextAttemptAt)
  })

  test("keeps the endpoint's secret, even if a later start resets everything", async () => {
    const data = temporaryFile()
    const receiver = await answering()
    const first = await startEmulator({ port: 0, data, to: receiver.url })
    const { secret = '' } = first
    await first.close()
    const second = await startEmulator({ port: 0, data, to: receiver.url })
    after(() => second.close())
    await second.api.reset({ everything: true })
    await second.api.send('conversation.resolved')
    await second.wait()
    const [got] = receiver.got
    const timestamp = Number(/t=(\d+)/.exec(String(got?.headers['x-service-signature']))?.[1])
    expect(got?.headers['x-service-signature']).toBe(sign(got?.body ?? '', { secret, timestamp }))
  })

  test('is refused with the reason if it is in use, of another program or not SQLite', async () => {
    const data = temporaryFile()
    await start({ data })
    await expect(startEmulator({ port: 0, data })).rejects.toThrow(/in use by another emulator/)
    const text = temporaryFile()
    writeFileSync(text, 'not a database, but long enough to be taken for one'.repeat(50))
    await expect(startEmulator({ port: 0, data: text })).rejects.toThrow(/not an SQLite file/)
    await expect(startEmulator({ port: 0, data: `${dirname(text)}/none/emulator.db` })).rejects.toThrow(
      /cannot be written/,
    )
    const { chooseDriver } = await import('@ackhook/sqlite/driver')
    const foreign = temporaryFile()
    const database = (await chooseDriver())(foreign)
    database.exec('CREATE TABLE other (id)')
    database.close()
    chmodSync(foreign, 0o644)
    await expect(startEmulator({ port: 0, data: foreign })).rejects.toThrow(/not created by this version/)
    // The file was read, but not changed.
    expect(statSync(foreign).mode & 0o777).toBe(0o644)
    expect(readFileSync(foreign).subarray(18, 20)).toEqual(Buffer.from([1, 1]))
  })

  test('keeps its seed, so that a restart changes no decision', async () => {
    const receiver = await answering()
    receiver.otherwise = 500
    const schedule = async (data: string, restarts: boolean) => {
      const options = { port: 0, data, clock: fakeClock('2026-03-01T12:00:00Z') } as const
      let emulator = await startEmulator({ ...options, seed: 3, to: receiver.url })
      const { deliveries } = await emulator.api.send('call.started')
      await emulator.api.clock.advance('1m')
      if (restarts) {
        await emulator.close()
        emulator = await startEmulator(options)
      }
      await emulator.api.clock.advance('1d')
      const { log } = await emulator.api.deliveries.get(deliveries[0]?.id ?? '')
      await emulator.close()
      return log.map(one => one.at)
    }
    const [whole, inParts] = [await schedule(temporaryFile(), false), await schedule(temporaryFile(), true)]
    expect(inParts).toEqual(whole)
    expect(whole).toHaveLength(8)
  })
})

describe('retention', () => {
  test('limits the number of finished deliveries, and keeps pending and undelivered ones', async () => {
    const receiver = await answering()
    const { emulator } = await start({
      to: receiver.url,
      retention: { deliveries: 20 },
      delivery: { attempts: 1 },
    })
    receiver.otherwise = 500
    await emulator.api.sendAll(events(5, 'call.missed'))
    await emulator.wait({ state: 'undelivered', count: 5 })
    receiver.otherwise = 202
    for (let i = 0; i < 5; i++) {
      await emulator.api.sendAll(events(10))
      await emulator.wait()
    }
    await emulator.wait({ state: 'undelivered', count: 5 })
    const total = async () =>
      Object.values((await emulator.api.health()).counts).reduce((sum, one) => sum + one, 0)
    await expect.poll(total).toBe(25)
    expect((await emulator.api.deliveries.list({ state: 'undelivered' })).deliveries).toHaveLength(5)
    const { deliveries } = await emulator.api.deliveries.list({ text: 'call.started' })
    expect(deliveries).toHaveLength(20)
  })

  test('limits the age of deliveries', async () => {
    const receiver = await answering()
    const { emulator } = await start({ to: receiver.url, retention: { age: '1h', deliveries: 2 } })
    await emulator.api.sendAll(events(2))
    await emulator.wait()
    await emulator.api.clock.advance('2h')
    await emulator.api.send('call.missed')
    await emulator.wait()
    await expect
      .poll(async () => (await emulator.api.deliveries.list()).deliveries.map(one => one.type))
      .toEqual(['call.missed'])
  })

  test('too many undelivered events cause a warning, and then 503 for new ones', async () => {
    const receiver = await answering()
    receiver.otherwise = 500
    const options = { to: receiver.url, retention: { undelivered: 10 }, delivery: { attempts: 1 } } as const
    const { emulator, http } = await start(options)
    await emulator.api.sendAll(events(8))
    expect((await http.get('/health')).body.warnings).toEqual([])
    await emulator.api.sendAll(events(2))
    await emulator.wait({ state: 'undelivered', count: 10 })
    const { warnings } = (await http.get('/health')).body
    expect(warnings).toContain('10 events are pending or undelivered; at 10, new ones are refused')
    const refused = await http.post('/events', { events: events(2) })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30'])
    expect((await http.post('/messages/inbound', { from: '+491', text: 'x' })).status).toBe(503)
    expect((await http.get('/messages')).body.messages).toEqual([])
    receiver.otherwise = 202
    // Replays add no open deliveries, so they still work.
    expect((await http.post('/deliveries/replay')).body.done).toBe(10)
    await emulator.wait()
    expect((await http.post('/events', { events: events(2) })).status).toBe(202)
  })

  test('duplicate faults respect the limit on undelivered deliveries', async () => {
    const held: ServerResponse[] = []
    const receiver = await answering([], response => held.push(response))
    const retention = { undelivered: 10 }
    const { emulator } = await start({ to: receiver.url, retention, delivery: { concurrency: 1 } })
    await emulator.api.sendAll(events(8), { faults: { concurrentDuplicate: true } })
    expect((await emulator.api.health()).counts.pending).toBe(10)
    await expect.poll(() => held.length).toBe(1)
    await emulator.api.deliveries.discardMatching({ filter: { state: 'pending' } })
    held[0]?.end()
    await emulator.wait({ state: 'acknowledged' })
    // Discarded while under way, so its slot is taken before its acknowledgement.
    await emulator.api.send('call.started', {}, { faults: { duplicate: true } })
    await expect.poll(() => held.length).toBe(2)
    await emulator.api.deliveries.discardMatching({ filter: { state: 'pending' } })
    await emulator.api.endpoints.pause()
    await emulator.api.sendAll(events(10))
    held[1]?.end()
    await emulator.wait({ state: 'acknowledged', count: 2 })
    expect((await emulator.api.health()).counts.pending).toBe(10)
  })

  const MEBIBYTE = 1_048_576

  /** Returns the bytes of each event and of each kept reply. */
  async function bytesIn({
    api,
  }: Emulator): Promise<readonly { readonly event: string; readonly bytes: number }[]> {
    const { deliveries } = await api.deliveries.list({}, { limit: 200, order: 'oldest' })
    return Promise.all(
      deliveries.map(async ({ id, event }) => {
        const { bytes, log } = await api.deliveries.get(id)
        return { event, bytes: log.reduce((sum, { replyBody }) => sum + replyBody.text.length, bytes) }
      }),
    )
  }
  const sum = (list: readonly { readonly bytes: number }[]) => list.reduce((all, { bytes }) => all + bytes, 0)

  test.each([':memory:', 'a file'])(
    'limits bytes by removing the oldest finished deliveries, in %s',
    async where => {
      const data = where === ':memory:' ? where : temporaryFile()
      const large = 'x'.repeat(60_000)
      const receiver = await answering([], response => response.writeHead(200).end(large))
      const options = { to: receiver.url, data, retention: { bytes: MEBIBYTE } }
      const { emulator } = await start(options)
      const sent: string[] = []
      for (let round = 0; round < 4; round++) {
        const events = await emulator.api.sendAll(
          Array.from({ length: 10 }, () => ({ type: 'call.started' })),
        )
        sent.push(...events.map(({ id }) => id))
        await emulator.wait()
      }
      await expect.poll(async () => sum(await bytesIn(emulator))).toBeLessThanOrEqual(MEBIBYTE)
      const kept = await bytesIn(emulator)
      expect(kept.length).toBeGreaterThan(10)
      expect(kept.map(({ event }) => event)).toEqual(sent.slice(-kept.length))
      const { counts } = await emulator.api.health()
      expect(counts.acknowledged).toBe(kept.length)
      await emulator.close()
      if (where === ':memory:') return
      const { emulator: next } = await start(options)
      await next.api.sendAll(Array.from({ length: 10 }, () => ({ type: 'call.missed' })))
      await next.wait()
      await expect.poll(async () => sum(await bytesIn(next))).toBeLessThanOrEqual(MEBIBYTE)
      expect((await bytesIn(next)).length).toBeGreaterThan(10)
    },
  )

  test('limits bytes even if nothing is finished: only last replies stay, and new events get 503', async () => {
    const receiver = await answering([], response => response.writeHead(500).end('x'.repeat(60_000)))
    const { emulator, http } = await start({
      to: receiver.url,
      retention: { bytes: MEBIBYTE },
      delivery: { attempts: 8 },
    })
    await emulator.api.sendAll(Array.from({ length: 8 }, () => ({ type: 'call.started' })))
    await emulator.api.clock.advance('1d')
    await emulator.wait({ state: 'undelivered', count: 8 })
    const kept = await bytesIn(emulator)
    expect(kept).toHaveLength(8)
    expect(sum(kept)).toBeLessThanOrEqual(MEBIBYTE)
    expect(sum(kept)).toBeGreaterThan(MEBIBYTE / 3)
    const { deliveries } = await emulator.api.deliveries.list()
    const { log } = await emulator.api.deliveries.get(deliveries[0]?.id ?? '')
    expect(log.map(({ status }) => status)).toEqual(Array(8).fill(500))
    const data = { note: 'y'.repeat(200_000) }
    const many = Array.from({ length: 4 }, () => ({ type: 'call.started', data }))
    const statuses = [(await http.post('/events', { events: many })).status]
    while (statuses.at(-1) === 202 && statuses.length < 9)
      statuses.push((await http.post('/events', { events: many })).status)
    expect(statuses.at(-1)).toBe(503)
    await emulator.api.deliveries.discardMatching({})
    await expect.poll(async () => (await http.post('/events', { events: events(1) })).status).toBe(202)
  })

  test('limits the bytes of messages by removing the oldest', async () => {
    const { emulator } = await start()
    const variables = { text: 'x'.repeat(60_000) }
    for (let n = 0; n < 700; n++)
      await emulator.api.messages.send({ channel: 'sms', to: `+49${n}`, template: 't', variables })
    let kept = 0
    let after: string | undefined
    do {
      const page = await emulator.api.messages.list({ limit: 200, ...(after !== undefined && { after }) })
      kept += page.messages.length
      after = page.next ?? undefined
    } while (after !== undefined)
    expect(kept).toBe(Math.floor(33_554_432 / JSON.stringify(variables).length))
    await emulator.reset()
    await emulator.api.messages.send({ channel: 'sms', to: '+49', template: 't', variables })
    expect((await emulator.api.messages.list()).messages).toHaveLength(1)
  })
})

test('a NUL does not end a type or an id', async () => {
  const { emulator } = await start({ to: (await answering()).url })
  const body = JSON.stringify({
    id: 'evt_a\0b',
    type: 'a.b\0c',
    created_at: '2026-03-01T12:00:00Z',
    data: {},
  })
  await emulator.api.sendAll([{ body }, { type: 'a.b' }])
  const { deliveries } = await emulator.api.deliveries.list({ type: 'a.b\0c' })
  expect(deliveries.map(({ event, type }) => [event, type])).toEqual([['evt_a\\u0000b', 'a.b\\u0000c']])
})

test('equal long replies are kept once and whole, and forgotten with the log', async () => {
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(500).end(`refused ${'x'.repeat(60_000)}`))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    receiver.closeAllConnections()
    receiver.close()
  })
  await vi.waitFor(() => expect(receiver.address()).not.toBeNull())
  const to = `http://127.0.0.1:${(receiver.address() as { port: number }).port}/webhooks`
  const delivery = { attempts: 1 }
  const emulator = await startEmulator({ port: 0, to, secret: 'whsec_replies_0123456789', delivery })
  onTestFinished(() => emulator.close())
  for (const _round of ['first', 'after a reset']) {
    // Far more than the limit, if each were kept.
    const events = Array.from({ length: 300 }, () => ({ type: 'a.b' }))
    await emulator.api.sendAll(events)
    await emulator.wait({ state: 'undelivered', count: 300, timeout: '60s' })
    const { deliveries } = await emulator.api.deliveries.list({}, { order: 'oldest', limit: 1 })
    const { log } = await emulator.api.deliveries.get(deliveries[0]?.id ?? '')
    expect(log[0]?.replyBody.text).toHaveLength(60_008)
    expect(log[0]?.truncated).toBe(false)
    await emulator.api.reset()
  }
})

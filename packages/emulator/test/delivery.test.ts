import type { ServerResponse } from 'node:http'
import { sign } from '@ackhook/testing'
import { expect, test } from 'vitest'
import { answering, SECRET, serve, start } from './set-up.ts'

test("an event is delivered once, signed by the emulator's clock", async () => {
  const receiver = await answering()
  const { emulator, clock } = await start({ to: receiver.url })
  const sent = await emulator.api.send('conversation.resolved')
  await emulator.wait({ state: 'acknowledged' })
  expect(receiver.got).toHaveLength(1)
  const [got] = receiver.got
  expect(got?.event.id).toBe(sent.id)
  expect(got?.event.created_at).toBe(new Date(clock()).toISOString())
  expect(got?.headers['content-type']).toBe('application/json')
  const timestamp = Math.floor(clock() / 1000)
  expect(got?.headers['x-service-signature']).toBe(sign(got?.body ?? '', { secret: SECRET, timestamp }))
})

test('replies other than 2xx are retried with growing delays until one is 2xx, and each attempt is kept', async () => {
  const receiver = await answering([500, 302, 404, 201])
  const { emulator } = await start({ to: receiver.url, delivery: { minDelay: '1s', factor: 4 } })
  const sent = await emulator.api.send('conversation.resolved')
  await emulator.api.clock.advance('10m')
  const { log, ...delivery } = await emulator.api.deliveries.get(sent.deliveries[0]?.id ?? '')
  expect(delivery).toMatchObject({
    state: 'acknowledged',
    attempts: 4,
    lastStatus: 201,
    lastCode: 'code_201',
  })
  expect(log.map(one => [one.number, one.status, one.code, one.acknowledged])).toEqual([
    [1, 500, 'code_500', false],
    [2, 302, 'code_302', false],
    [3, 404, 'code_404', false],
    [4, 201, 'code_201', true],
  ])
  const gaps = log.slice(1).map((one, i) => Date.parse(one.at) - Date.parse(log[i]?.at ?? ''))
  for (const [i, gap] of gaps.entries()) {
    expect(gap).toBeGreaterThanOrEqual((1000 * 4 ** i) / 2)
    expect(gap).toBeLessThanOrEqual(1000 * 4 ** i + 1)
  }
  expect(log[0]?.replyBody.text).toBe('{"code":"code_500"}')
  expect(log[0]?.replyHeaders).toContainEqual(['content-type', 'application/json'])
})

test('nothing is sent before it is due', async () => {
  const receiver = await answering([500])
  const { emulator } = await start({ to: receiver.url, delivery: { minDelay: '1m' } })
  await emulator.api.send('conversation.resolved')
  await emulator.wait({ status: 500 })
  await emulator.api.clock.advance('29s')
  expect(receiver.got).toHaveLength(1)
  await emulator.api.clock.advance('31s')
  expect(receiver.got).toHaveLength(2)
})

test('moving a fake clock directly starts due attempts', async () => {
  const receiver = await answering([500])
  const { emulator, clock } = await start({ to: receiver.url })
  await emulator.api.send('conversation.resolved')
  await emulator.wait({ status: 500 })
  clock.advance('5s')
  await emulator.wait({ state: 'acknowledged' })
})

test('a longer Retry-After is honored, as seconds and as a date, and can be ignored', async () => {
  const at = '2026-03-01T12:05:00Z'
  const replies = [['120'], [new Date(at).toUTCString()], []]
  const url = await serve((request, response) => {
    const [retryAfter] = replies.shift() ?? []
    request.resume().on('end', () => {
      response.writeHead(
        retryAfter === undefined ? 200 : 503,
        retryAfter === undefined ? {} : { 'retry-after': retryAfter },
      )
      response.end()
    })
  })
  const { emulator } = await start({ to: url })
  const sent = await emulator.api.send('conversation.resolved')
  await emulator.api.clock.advance('1h')
  const { log } = await emulator.api.deliveries.get(sent.deliveries[0]?.id ?? '')
  expect(log.map(one => one.at)).toEqual([
    '2026-03-01T12:00:00.000Z',
    '2026-03-01T12:02:00.000Z',
    '2026-03-01T12:05:00.000Z',
  ])
  expect(log[0]?.retryAfterMs).toBe(120_000)
})

test('retries end with the window, and the event is kept as undelivered', async () => {
  const receiver = await answering()
  receiver.otherwise = 500
  const { emulator, http } = await start({ to: receiver.url, delivery: { attempts: 50, retryWindow: '1h' } })
  await emulator.api.send('conversation.resolved')
  await emulator.api.clock.advance('2h')
  const { body } = await http.get('/undelivered')
  expect(body.deliveries).toHaveLength(1)
  const { log } = await emulator.api.deliveries.get(body.deliveries[0].id)
  expect(log.length).toBeLessThan(50)
  expect(Date.parse(log.at(-1)?.at ?? '') - Date.parse(log[0]?.at ?? '')).toBeLessThanOrEqual(3_600_000)
})

test('a late reply and a missing server are failed attempts with a reason', async () => {
  const silent = await serve(request => {
    request.resume()
  })
  const { emulator } = await start({ to: silent, delivery: { timeout: '50ms', attempts: 2 } })
  await emulator.api.send('conversation.resolved')
  await emulator.wait({ text: 'conversation' })
  await emulator.api.clock.advance('1s')
  const [delivery] = (await emulator.api.deliveries.list()).deliveries
  expect(delivery?.lastError).toBe('no reply within 50 ms')
  await emulator.api.endpoints.put({ url: 'http://127.0.0.1:1/' })
  await emulator.api.clock.advance('1m')
  expect((await emulator.api.deliveries.list()).deliveries[0]).toMatchObject({
    state: 'undelivered',
    lastError: 'ECONNREFUSED',
  })
})

test('concurrency limits the requests to an endpoint, and each event is sent', async () => {
  let most = 0
  const open: ServerResponse[] = []
  // The receiver replies to three at a time, so fewer concurrent requests would hang.
  const url = await serve((request, response) => {
    request.resume().on('end', () => {
      most = Math.max(most, open.push(response))
      if (open.length >= 3) setImmediate(() => open.splice(0).map(one => one.writeHead(202).end()))
    })
  })
  const { emulator } = await start({ to: url, delivery: { concurrency: 3 } })
  await emulator.api.sendAll(Array.from({ length: 39 }, () => ({ type: 'conversation.resolved' })))
  await emulator.wait({ state: 'acknowledged', count: 39 })
  expect(most).toBe(3)
})

test("events use another contract's field names", async () => {
  const receiver = await answering()
  const { emulator } = await start({
    to: receiver.url,
    delivery: { fields: { id: 'event_id', type: 'kind' } },
  })
  const { id } = await emulator.api.send('conversation.resolved')
  await emulator.wait()
  expect(receiver.got[0]?.event).toMatchObject({ event_id: id, kind: 'conversation.resolved' })
  const [delivery] = (await emulator.api.deliveries.list({ event: id })).deliveries
  const replay = await emulator.api.deliveries.replay(delivery?.id ?? '', {
    mode: 'edited',
    data: { changed: true },
  })
  expect(replay.event).not.toBe(id)
  await emulator.wait()
  expect(receiver.got[1]?.event).toMatchObject({ event_id: replay.event, data: { changed: true } })
})

test('a reset aborts attempts under way, and records none of them afterwards', async () => {
  const waiting: ServerResponse[] = []
  const url = await serve((request, response) => {
    request.resume().on('end', () => waiting.push(response))
  })
  const { emulator } = await start({ to: url, delivery: { concurrency: 2 } })
  await emulator.api.sendAll(Array.from({ length: 10 }, () => ({ type: 'call.started' })))
  await expect.poll(() => waiting.length).toBe(2)
  await emulator.reset()
  await expect.poll(() => waiting.every(one => one.destroyed)).toBe(true)
  const { id } = await emulator.api.send('call.missed')
  await expect.poll(() => waiting.length).toBe(3)
  waiting[2]?.writeHead(202).end()
  await emulator.wait()
  const { deliveries } = await emulator.api.deliveries.list()
  expect(deliveries).toMatchObject([{ event: id, seq: 1, attempts: 1, state: 'acknowledged' }])
})

test('closing ends waits and attempts immediately', async () => {
  const url = await serve(request => void request.resume())
  const { emulator } = await start({ to: url })
  await emulator.api.send('call.started')
  const stream = await fetch(`${emulator.url}/_emulator/v1/stream`)
  await expect.poll(async () => (await emulator.api.deliveries.list()).deliveries[0]?.underWay).toBe(true)
  const waiting = emulator.wait({ state: 'acknowledged', timeout: '60s' })
  await Promise.all([
    expect(waiting).rejects.toMatchObject({ code: 'closed' }),
    expect(stream.text()).rejects.toThrow(),
    emulator.close(),
  ])
})

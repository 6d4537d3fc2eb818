import { expect, test } from 'vitest'
import { answering, start, temporaryFile } from './set-up.ts'

test('a list tells what a delivery is, what the faults did to it, and in which order it arrived', async () => {
  const { emulator, http } = await start({ to: (await answering()).url })
  const { api } = emulator
  await api.sendAll([{ type: 'call.lost' }], { faults: { answer: 503, answerNext: 1, lostReply: 0 } })
  await api.sendAll([{ type: 'call.twice' }], { faults: { duplicate: true } })
  await api.sendAll([{ type: 'call.bad' }], { faults: { tamper: true, staleTimestamp: true } })
  await api.clock.advance('10s')
  const { body } = await http.get('/deliveries?order=oldest')
  const seen = body.deliveries.map((one: { type: string; kind: string; marks: string[] }) => [
    ...[one.type, one.kind, [...one.marks].sort().join()],
  ])
  expect(seen).toEqual([
    ['call.lost', 'event', 'answered,retried'],
    ['call.twice', 'event', ''],
    ['call.bad', 'event', 'stale_timestamp,tampered'],
    ['call.twice', 'duplicate', ''],
  ])
  expect(body.deliveries.map((one: { arrival: number }) => one.arrival)).toEqual([1, 2, 3, 4])
  const marked = await http.get('/deliveries?mark=tampered')
  expect(marked.body.deliveries.map((one: { type: string }) => one.type)).toEqual(['call.bad'])
  const refused = await http.get('/deliveries?mark=broken')
  expect([refused.status, refused.body.error.message]).toEqual([
    400,
    expect.stringMatching(/^mark must be one of retried, out_of_order, lost_reply/),
  ])
})

test('events that a fault shuffles keep their order of creation, and those that come late are marked', async () => {
  const receiver = await answering()
  const { emulator } = await start({
    to: receiver.url,
    faults: { disorder: true },
    delivery: { concurrency: 1 },
  })
  const events = Array.from({ length: 8 }, (_, index) => ({ type: `call.n${index}` }))
  await emulator.api.sendAll(events)
  await emulator.wait()
  const { deliveries } = await emulator.api.deliveries.list({}, { order: 'oldest' })
  expect(deliveries.map(one => one.type)).toEqual(events.map(one => one.type))
  const byArrival = deliveries.toSorted((a, b) => Number(a.arrival) - Number(b.arrival))
  expect(byArrival.map(one => one.type)).toEqual(receiver.got.map(({ event }) => event.type))
  let newest = 0
  for (const { seq, marks } of byArrival) {
    expect(marks.includes('out_of_order')).toBe(seq < newest)
    newest = Math.max(newest, seq)
  }
  expect(deliveries.filter(one => one.marks.includes('out_of_order')).length).toBeGreaterThan(1)
})

test('the order of arrival survives a restart, and a reset begins anew', async () => {
  const data = temporaryFile()
  const receiver = await answering()
  const first = await start({ to: receiver.url, data })
  await first.emulator.api.sendAll([{ type: 'a.b' }, { type: 'a.c' }])
  await first.emulator.wait()
  await first.emulator.close()
  const { emulator } = await start({ to: receiver.url, data })
  await emulator.api.send('a.d')
  await emulator.wait()
  const arrivals = async () => (await emulator.api.deliveries.list()).deliveries.map(one => one.arrival)
  expect(await arrivals()).toEqual([3, 2, 1])
  await emulator.reset()
  await emulator.api.send('a.e')
  await emulator.wait()
  expect(await arrivals()).toEqual([1])
})

test('a replay to another address is signed anew, leaves the endpoint alone, and settles nothing', async () => {
  const live = await answering([], response => void response.writeHead(500).end())
  const other = await answering()
  const { emulator, http } = await start({ to: live.url, delivery: { attempts: 1 } })
  const { api } = emulator
  await api.sendAll([{ type: 'a.b' }, { type: 'a.c' }])
  await emulator.wait()
  await api.endpoints.pause()
  const waiting = await api.send('a.d')
  const { health } = await api.endpoints.get()
  const first = await http.post('/deliveries/replay', { to: other.url, dryRun: true })
  const made = await http.post('/deliveries/replay', { to: other.url, after: first.body.next })
  expect(made.body).toEqual({ matched: 2, done: 2, next: null, batch: first.body.batch })
  await emulator.wait({ batch: made.body.batch, state: 'acknowledged', count: 2 })
  expect(other.got.map(({ event }) => event.type)).toEqual(['a.b', 'a.c'])
  expect(live.got).toHaveLength(2)
  expect((await api.deliveries.list({ event: waiting.id })).deliveries).toMatchObject([{ state: 'pending' }])
  const { deliveries } = await api.deliveries.list({ state: 'undelivered' })
  expect(deliveries).toHaveLength(2)
  expect((await api.endpoints.get()).health).toEqual(health)
  const [one] = deliveries
  const again = await http.post(`/deliveries/${one?.id}/replay`, { to: other.url })
  expect(again.body).toMatchObject({ to: other.url, kind: 'replay', origin: one?.id, batch: null })
})

test('a replay to another address that fails is given up, and one of it goes there again', async () => {
  const other = await answering([500, 500])
  const { emulator } = await start({ to: (await answering([500])).url, delivery: { attempts: 1 } })
  const { api } = emulator
  await api.send('a.b')
  await emulator.wait()
  const [origin] = (await api.deliveries.list()).deliveries
  const { id } = await api.deliveries.replay(origin?.id ?? '', { to: other.url })
  await emulator.wait()
  expect(await api.deliveries.get(id)).toMatchObject({
    ...{ state: 'discarded', reason: 'it was a replay to another address', lastStatus: 500 },
  })
  expect((await api.deliveries.replay(id)).to).toBe(other.url)
  await emulator.wait()
  expect(other.got).toHaveLength(2)
})

test('a replay goes only to addresses that events may be sent to', async () => {
  const { emulator, http } = await start({ to: (await answering()).url })
  const { id } = await emulator.api.send('a.b')
  await emulator.wait()
  const [delivery] = (await emulator.api.deliveries.list({ event: id })).deliveries
  for (const path of [`/deliveries/${delivery?.id}/replay`, '/deliveries/replay']) {
    const { status, body } = await http.post(path, { to: 'http://example.com/' })
    expect([status, body.error.field, body.error.message]).toEqual([
      ...[400, 'to', expect.stringContaining('allowTargets')],
    ])
  }
  const { body } = await http.post('/deliveries/discard', { to: 'http://127.0.0.1:1/' })
  expect(body.error).toMatchObject({ field: 'to', message: 'to is only for replays' })
})

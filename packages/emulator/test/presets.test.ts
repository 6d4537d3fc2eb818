import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { expect, test } from 'vitest'
import type { FaultPreset } from '../src/index.ts'
import { after, SECRET, serve, start } from './set-up.ts'

/** Starts an emulator in a situation, with a receiver that follows its clock and records what it handles. */
async function inSituation(preset: FaultPreset) {
  const handled: string[] = []
  const running = await start({ faults: { preset }, retention: { deliveries: 10_000 } })
  const { clock, emulator } = running
  const receiver = createReceiver({ secret: SECRET, clock, logger: { info() {}, warn() {}, error() {} } })
  receiver.on('*', event => {
    handled.push(event.id)
  })
  after(() => receiver.close())
  await emulator.api.endpoints.put({ url: await serve(toNodeHandler(receiver)) })
  const sendMany = async () => {
    const sent = await emulator.api.sendAll(Array.from({ length: 40 }, () => ({ type: 'call.started' })))
    return sent.map(({ id }) => id)
  }
  const attempts = async () => {
    const { deliveries } = await emulator.api.deliveries.list({}, { limit: 200 })
    const details = await Promise.all(deliveries.map(({ id }) => emulator.api.deliveries.get(id)))
    return details.flatMap(({ log }) => log)
  }
  return { ...running, handled, sendMany, attempts }
}

test('flaky: some attempts get 503, some replies are lost, and each event is handled once', async () => {
  const { emulator, handled, sendMany, attempts } = await inSituation('flaky')
  const ids = await sendMany()
  await emulator.api.clock.advance('12h')
  expect((await emulator.api.health()).counts).toMatchObject({ acknowledged: ids.length, undelivered: 0 })
  expect(handled.toSorted()).toEqual(ids.toSorted())
  const faults = (await attempts()).flatMap(one => one.faults)
  expect(faults.filter(one => one === 'answered').length).toBeGreaterThan(5)
  expect(faults.filter(one => one === 'lost_reply').length).toBeGreaterThan(1)
})

test('slow: attempts start up to 5 s late, and an event whose reply came too late is sent again', async () => {
  const { emulator, handled, sendMany, attempts } = await inSituation('slow')
  const ids = await sendMany()
  await emulator.api.clock.advance('5s')
  const { deliveries } = await emulator.api.deliveries.list({}, { limit: 200 })
  const late = deliveries.map(one => Date.parse(String(one.startedAt)) - Date.parse(one.createdAt))
  expect(Math.max(...late)).toBeLessThanOrEqual(5000)
  expect(late.filter(ms => ms > 1000).length).toBeGreaterThan(10)
  await emulator.api.clock.advance('12h')
  expect(handled.toSorted()).toEqual(ids.toSorted())
  expect((await attempts()).length).toBeGreaterThan(ids.length)
})

test('down: the app is not called until the faults are off', async () => {
  const { emulator, handled, sendMany, attempts } = await inSituation('down')
  const ids = await sendMany()
  await emulator.api.clock.advance('10m')
  expect(handled).toEqual([])
  expect(new Set((await attempts()).map(one => one.error))).toEqual(new Set(['ECONNRESET']))
  await emulator.api.faults.set({})
  await emulator.api.clock.advance('12h')
  expect(handled.toSorted()).toEqual(ids.toSorted())
})

test('duplicates: events come again, later and at the same moment, and each is handled once', async () => {
  const { emulator, handled, sendMany, attempts } = await inSituation('duplicates')
  const ids = await sendMany()
  await emulator.api.clock.advance('12h')
  const { deliveries } = await emulator.api.deliveries.list({ kind: 'duplicate' }, { limit: 200 })
  expect(deliveries.length).toBeGreaterThan(15)
  expect(handled.toSorted()).toEqual(ids.toSorted())
  expect((await attempts()).filter(one => one.acknowledged).length).toBeGreaterThan(ids.length)
})

test("disorder: a message's later states overtake the earlier ones", async () => {
  const { emulator, handled } = await inSituation('disorder')
  const { messages, clock } = emulator.api
  for (let round = 0; round < 3; round++) {
    const { id } = await messages.send({ channel: 'whatsapp', to: '+4915112345678', template: 'hello' })
    const sent: string[] = []
    for (const state of ['sent', 'delivered', 'read'] as const)
      sent.push((await messages.advance(id, state)).event.id)
    await clock.advance('3s')
    expect(handled.splice(0)).toEqual(sent.toReversed())
  }
})

test('a preset is shown as its faults, takes further ones, and an unknown one is refused', async () => {
  const { http, emulator } = await start()
  const set = await http.put('/faults', { preset: 'down', answerNext: 3, duplicate: 0.1 })
  expect(set.body).toEqual({ answer: 'reset', answerNext: 3, duplicate: 0.1 })
  expect((await http.get('/faults')).body).toEqual(set.body)
  const { status, body } = await http.put('/faults', { preset: 'broken' })
  expect([status, body.error.field]).toEqual([400, 'faults.preset'])
  expect(body.error.message).toContain('must be one of flaky, slow, down, duplicates, dark, disorder')
  expect(await emulator.api.faults.get()).toEqual(set.body)
})

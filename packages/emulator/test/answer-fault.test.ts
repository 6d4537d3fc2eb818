import { expect, test } from 'vitest'
import { answering, start } from './set-up.ts'

test('a reply that replaces the app counts as a failed attempt, which the app never sees', async () => {
  const receiver = await answering()
  const { emulator, http } = await start({ to: receiver.url, delivery: { attempts: 2 } })
  await http.put('/faults', { answer: 503 })
  const { id } = await emulator.api.send('conversation.resolved')
  await emulator.api.clock.advance('1h')
  expect(receiver.got).toHaveLength(0)
  const [delivery] = (await emulator.api.deliveries.list({ event: id })).deliveries
  expect(delivery).toMatchObject({ state: 'undelivered', attempts: 2, lastStatus: 503 })
  const { body } = await http.get(`/deliveries/${delivery?.id}`)
  expect(body.log.map((one: { faults: unknown }) => one.faults)).toEqual([['answered'], ['answered']])
})

test('answerNext counts down and then removes answer, while other faults stay', async () => {
  const receiver = await answering()
  const { emulator, http } = await start({ to: receiver.url })
  await http.put('/faults', { answer: 'reset', answerChance: true, answerNext: 2, frozenTimestamp: true })
  await emulator.api.send('conversation.resolved')
  await emulator.wait({ text: 'conversation', count: 1 })
  await expect
    .poll(async () => (await http.get('/faults')).body)
    .toEqual({
      ...{ answer: 'reset', answerChance: true, answerNext: 1, frozenTimestamp: true },
    })
  await emulator.api.clock.advance('1h')
  expect((await http.get('/faults')).body).toEqual({ frozenTimestamp: true })
  const [delivery] = (await emulator.api.deliveries.list()).deliveries
  const { log } = await emulator.api.deliveries.get(delivery?.id ?? '')
  expect(log.map(one => one.error ?? one.status)).toEqual(['ECONNRESET', 'ECONNRESET', 202])
})

test("a call's answer applies only to its events, and answerNext counts the attempts of each", async () => {
  const receiver = await answering()
  const { emulator, http } = await start({ to: receiver.url })
  await http.post('/events', {
    events: [{ type: 'call.started' }, { type: 'call.missed' }],
    faults: { answer: 429, answerNext: 1 },
  })
  await emulator.api.send('call.ended')
  await emulator.api.clock.advance('1h')
  const { deliveries } = await emulator.api.deliveries.list()
  expect(deliveries.map(({ type, attempts, state }) => [type, attempts, state])).toEqual([
    ['call.ended', 1, 'acknowledged'],
    ['call.missed', 2, 'acknowledged'],
    ['call.started', 2, 'acknowledged'],
  ])
  expect((await http.get('/faults')).body).toEqual({})
})

test('a reset restores the initial faults, with the full count', async () => {
  const faults = { answer: 500, answerNext: 1 }
  const { emulator } = await start({ to: (await answering()).url, faults })
  await emulator.api.send('conversation.resolved')
  await emulator.wait({ status: 500 })
  expect(await emulator.api.faults.get()).toEqual({})
  await emulator.reset()
  expect(await emulator.api.faults.get()).toEqual(faults)
})

test('an invalid answer is refused with the name of the field', async () => {
  const { http } = await start()
  for (const [faults, message] of [
    [{ answer: 'nothing' }, /200 to 599, 'timeout' or 'reset'/],
    [{ answer: 100 }, /200 to 599/],
    [{ answerNext: 3 }, /'timeout' or 'reset', for example/],
  ] as const) {
    const { status, body } = await http.put('/faults', faults)
    expect([status, body.error.field]).toEqual([400, 'faults.answer'])
    expect(body.error.message).toMatch(message)
  }
  expect((await http.get('/faults')).body).toEqual({})
})

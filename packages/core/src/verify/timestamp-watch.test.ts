import { expect, it } from 'vitest'
import { eventBody, signedRequest, watch } from '../../../../test/support/receiving.ts'

const NOW = Date.parse('2026-01-01T12:00:00Z')
const HOUR_MS = 3_600_000

function receiving() {
  let now = NOW
  let count = 0
  const { receiver, logger, seen } = watch({ clock: () => now })
  receiver.on('*', () => {})
  return {
    logger,
    refusals: () => seen.flatMap(one => (one.kind === 'rejected' ? [one.detail] : [])),
    pass: (ms: number) => (now += ms),
    /** Sends an event that was created, and signed, this long ago. */
    send: ({ createdAgoMs = 0, signedAgoMs = 0, id = `evt_${++count}` } = {}) => {
      const created_at = new Date(now - createdAgoMs).toISOString()
      const timestamp = Math.floor((now - signedAgoMs) / 1000)
      return receiver.handle(signedRequest(eventBody({ id, created_at }), { timestamp }))
    },
    details: () => logger.lines.map(({ level, message }) => `${level} ${message}`),
  }
}

it('calls a t that is as old as its event, while others are recent, that of a first attempt', async () => {
  const { send, details } = receiving()
  await send()
  expect((await send({ createdAgoMs: HOUR_MS, signedAgoMs: HOUR_MS })).status).toBe(401)
  expect(details()).toEqual([
    expect.stringMatching(
      /^warn .*is as old as the event.*from a sender that does not renew it or from a replay/,
    ),
  ])
})

it('recognizes the t that came with the same event before', async () => {
  const { send, pass, refusals } = receiving()
  await send()
  await send({ id: 'evt_again', createdAgoMs: 9 * HOUR_MS, signedAgoMs: HOUR_MS })
  pass(60_000)
  await send({ id: 'evt_again', createdAgoMs: 9 * HOUR_MS + 60_000, signedAgoMs: HOUR_MS + 60_000 })
  expect(refusals()).toEqual([
    expect.not.stringContaining('first attempt'),
    expect.stringContaining('has come with this event before'),
  ])
})

it('names the option once three events came with the t of their first attempt', async () => {
  const { receiver, logger } = watch({ clock: () => NOW })
  receiver.on('*', () => {})
  const codes: string[] = []
  const send = async (id: string, agoMs: number) => {
    const created_at = new Date(NOW - agoMs).toISOString()
    const reply = await receiver.handle(
      signedRequest(eventBody({ id, created_at }), { timestamp: (NOW - agoMs) / 1000 }),
    )
    codes.push(JSON.parse(reply.body).code)
  }
  for (const id of ['a', 'b', 'c', 'd']) {
    await send(`${id}-fresh`, 0)
    await send(id, HOUR_MS)
  }
  expect(codes.filter(code => code === 'unauthorized')).toHaveLength(4)
  const [error] = logger.lines.filter(({ level }) => level === 'error')
  expect(error?.message).toContain("tolerance: '3d', retention: '7d'")
  expect(error?.message).not.toContain('clock, which')
})

it('still names the clock if nothing passes', async () => {
  const { send, details } = receiving()
  for (let i = 0; i < 3; i++) await send({ createdAgoMs: HOUR_MS, signedAgoMs: HOUR_MS })
  expect(details().at(-1)).toMatch(/^error .*check this machine's clock/)
})

it('recognizes repeated deliveries after an outage, though nothing has passed', async () => {
  const { send, pass, refusals } = receiving()
  const retryAll = async (agoMs: number) => {
    for (const id of ['evt_a', 'evt_b', 'evt_c', 'evt_d'])
      await send({ id, createdAgoMs: agoMs, signedAgoMs: agoMs })
  }
  await retryAll(3 * HOUR_MS)
  expect(refusals().at(-1)).toMatch(/check this machine's clock, which/)
  pass(HOUR_MS)
  await retryAll(4 * HOUR_MS)
  const again = refusals().slice(4)
  expect(again).toHaveLength(4)
  for (const detail of again)
    expect(detail).toMatch(/has come with this event before, and no other delivery has passed lately/)
  expect(again.at(-1)).toContain("tolerance: '3d', retention: '7d'. Check this machine's clock too")
})

it('goes on naming the clock if each attempt has a t of its own', async () => {
  const { send, pass, details } = receiving()
  for (let attempt = 0; attempt < 4; attempt++) {
    await send({ id: 'evt_again', createdAgoMs: HOUR_MS, signedAgoMs: HOUR_MS })
    pass(61_000)
  }
  expect(details().at(-1)).toMatch(/^error .*check this machine's clock/)
})

it('names neither for an old delivery whose event is older still, or that is no event', async () => {
  const { receiver, logger } = watch({ clock: () => NOW })
  receiver.on('*', () => {})
  await receiver.handle(signedRequest(eventBody({ id: 'fresh' }), { timestamp: NOW / 1000 }))
  const timestamp = (NOW - HOUR_MS) / 1000
  await receiver.handle(signedRequest(eventBody({ created_at: '2020-01-01T00:00:00Z' }), { timestamp }))
  await receiver.handle(signedRequest('no JSON', { timestamp }))
  expect(logger.lines.map(({ message }) => message).join()).not.toMatch(/first attempt|machine's clock/)
})

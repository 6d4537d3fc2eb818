import { expect, it, vi } from 'vitest'
import { watch } from '../../../../../test/support/receiving.ts'
import type { HandlingControl } from '../handling.ts'
import { memoryInbox } from './memory-inbox.ts'

function paused(type?: string, options: Parameters<typeof watch>[0] = {}) {
  const inbox = memoryInbox()
  const handling = inbox.handling as HandlingControl
  void handling.pause(type)
  const watched = watch({ inbox, ...options })
  const ran: string[] = []
  watched.receiver.on('*', event => void ran.push(event.id))
  return { ...watched, handling, ran }
}

it('may begin before the start, and says so once', async () => {
  const { receiver, logger, send, ran, handling } = paused('a.b')
  await receiver.start()
  expect((await send({ id: 'held', type: 'a.b' })).status).toBe(202)
  expect((await send({ id: 'free' })).status).toBe(202)
  await vi.waitFor(() => expect(ran).toEqual(['free']))
  await handling.resume('a.b')
  await vi.waitFor(() => expect(ran).toEqual(['free', 'held']))
  expect(logger.lines.map(({ level, fields }) => [level, fields['code'], fields['type']])).toEqual([
    ['warn', 'handling_paused', 'a.b'],
    ['info', 'handling_resumed', 'a.b'],
  ])
  expect(logger.lines[0]?.message).toContain("'inbox.handling.resume('a.b')' ends the pause")
  await receiver.close()
})

it('ends with the drain, which runs what waits rather than lose it, and says so', async () => {
  const { receiver, logger, send, ran } = paused(undefined)
  for (const id of ['a', 'b']) await send({ id })
  expect(await receiver.close({ timeout: '10s' })).toEqual({ lost: 0 })
  expect(ran).toEqual(['a', 'b'])
  const line = logger.lines.find(({ fields }) => fields['code'] === 'pause_ended_by_drain')
  expect(line).toMatchObject({ level: 'warn', fields: { events: 2 } })
})

it('cannot begin during the drain, which would lose what waits', async () => {
  const inbox = memoryInbox()
  const { receiver, send } = watch({ inbox, concurrency: 1 })
  const ran: string[] = []
  const pauses: unknown[] = []
  let end = () => {}
  const ended = new Promise<void>(resolve => (end = resolve))
  receiver.on('*', async event => {
    if (event.id === 'a') await ended
    else pauses.push(await inbox.handling?.pause(), await inbox.handling?.pause('a.b'))
    ran.push(event.id)
  })
  for (const id of ['a', 'b', 'c']) await send({ id })
  const closed = receiver.close({ timeout: '10s' })
  end()
  expect(await closed).toEqual({ lost: 0 })
  expect(ran).toEqual(['a', 'b', 'c'])
  expect(pauses).toEqual([false, false, false, false])
})

it('leaves events with their senders where the reply waits for the handlers', async () => {
  const { receiver, send, ran, handling } = paused('a.b', { acknowledge: 'after-processing', concurrency: 1 })
  let end = () => {}
  receiver.on('c.d', () => new Promise<void>(resolve => (end = resolve)))
  expect(await send({ id: 'held', type: 'a.b' })).toMatchObject({ status: 503, code: 'capacity_exceeded' })
  const running = send({ id: 'runs', type: 'c.d' })
  await vi.waitFor(() => expect(ran).toContain('runs'))
  const waiting = send({ id: 'waits' })
  await vi.waitFor(async () => expect((await receiver.stats()).pending).toBe(1))
  await handling.pause()
  expect(await waiting).toMatchObject({ status: 503 })
  end()
  expect((await running).status).toBe(200)
  await handling.resume()
  expect((await send({ id: 'held', type: 'a.b' })).status).toBe(200)
  expect(ran).toEqual(['runs', 'held'])
  await receiver.close()
})

it('does not count as a wait for a slot', async () => {
  const { receiver, send } = paused()
  await send()
  await new Promise(resolve => setTimeout(resolve, 5))
  expect(await receiver.stats()).toMatchObject({ pending: 1, paused: true, oldestUntriedMs: 0 })
  expect((await receiver.stats()).oldestPendingMs).toBeGreaterThan(0)
  await receiver.close()
})

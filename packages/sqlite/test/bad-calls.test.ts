import { join } from 'node:path'
import type { Delivery, Inbox } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { expect, it } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

const ACCEPTED = { outcome: 'accepted' }
const REFUSED = {
  outcome: 'unavailable',
  cause: { message: expect.stringMatching(/cannot store this event/) },
}

function withInbox(body: (inbox: Inbox, ran: Delivery[]) => Promise<void>): Promise<void> {
  return withFolder(async folder => {
    const inbox = sqliteInbox({ path: join(folder, 'inbox.db'), poll: '20ms' })
    const { ran } = await startInbox(inbox, {}, async ({ type }) =>
      type === 'dies' ? { outcome: 'dead', error: 'no', notified: true } : { outcome: 'completed' },
    )
    await body(inbox, ran)
    await inbox.close(1000)
  })
}

/** Awaits `call` between two deliveries in the same transaction, which must be accepted. Returns its result. */
async function besides<T>(inbox: Inbox, call: T | PromiseLike<T>): Promise<T> {
  const answers = [inbox.accept(newDelivery()), call, inbox.accept(newDelivery())] as const
  const [before, answer, after] = await Promise.all(answers)
  expect([before, after]).toEqual([ACCEPTED, ACCEPTED])
  return answer
}

it('lists dead letters for any limit, and fails no delivery of the same transaction', () =>
  withInbox(async inbox => {
    for (let index = 0; index < 3; index++) await inbox.accept(newDelivery({ type: 'dies' }))
    await until('all are dead', async () => (await inbox.stats()).dead === 3)
    const found = async (limit: unknown) =>
      (await besides(inbox, inbox.deadLetters.list({ limit: limit as number }))).length
    for (const [limit, rows] of [
      [Number.NaN, 3],
      ['x', 3],
      [undefined, 3],
      [Number.POSITIVE_INFINITY, 3],
      [2.5, 2],
      [0, 0],
      [-1, 0],
      [Number.NEGATIVE_INFINITY, 0],
    ]) {
      expect([limit, await found(limit)]).toEqual([limit, rows])
    }
  }))

it('finds nothing for a key that is no string, and fails no delivery of the same transaction', () =>
  withInbox(async inbox => {
    const { get, redrive, discard } = inbox.deadLetters
    for (const key of [undefined, Number.NaN, {}, () => {}] as string[]) {
      expect(await besides(inbox, get(key))).toBeUndefined()
      expect(await besides(inbox, redrive(key))).toBe(false)
      expect(await besides(inbox, discard(key))).toBe(false)
    }
  }))

it('refuses an event that SQLite cannot store, and accepts the others that arrive with it', () =>
  withInbox(async inbox => {
    for (const wrong of [
      { receivedAt: Number.NaN },
      { fingerprint: undefined as unknown as number },
      { order: { key: 'tenant', createdAt: Number.POSITIVE_INFINITY } },
    ]) {
      expect(await besides(inbox, inbox.accept(newDelivery(wrong)))).toMatchObject(REFUSED)
    }
  }))

it('keeps a dead letter whose redelivery cannot be stored', () =>
  withInbox(async (inbox, ran) => {
    const dead = newDelivery({ type: 'dies' })
    await inbox.accept(dead)
    await until('it is dead', async () => (await inbox.stats()).dead === 1)
    const again = inbox.accept({ ...dead, receivedAt: Number.NaN })
    expect(await besides(inbox, again)).toMatchObject(REFUSED)
    expect(await inbox.deadLetters.get(dead.key)).toMatchObject({ id: dead.id })
    expect(await inbox.accept({ ...dead, type: 'lives' })).toEqual(ACCEPTED)
    await until('it ran again', () => ran.some(({ type }) => type === 'lives'))
  }))

import { join } from 'node:path'
import { createReceiver, type Observation } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { signedRequest } from '@ackhook/testing'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

it('works on a database whose owner reads BigInts and arrays', () =>
  withFolder(async folder => {
    const database = new DatabaseSync(join(folder, 'app.db'), { readBigInts: true, returnArrays: true })
    database.exec('CREATE TABLE mine (n INTEGER); INSERT INTO mine VALUES (7)')
    const inbox = sqliteInbox({ database, poll: '20ms' })
    const { ran } = await startInbox(inbox, { serialize: true }, async ({ type }) =>
      type === 'dies' ? { outcome: 'dead', error: 'no', notified: true } : { outcome: 'completed' },
    )
    const dies = newDelivery({ type: 'dies' })
    const order = { key: 'tenant', createdAt: 1 }
    const others = Array.from({ length: 3 }, () => newDelivery({ order }))
    for (const one of [dies, ...others]) expect(await inbox.accept(one)).toEqual({ outcome: 'accepted' })
    await until('all ran', () => ran.length === 4)
    await until('one is dead', async () => (await inbox.stats()).dead === 1)
    expect(await inbox.accept(others[0] ?? dies)).toEqual({ outcome: 'duplicate' })
    expect(await inbox.deadLetters.list()).toMatchObject([{ id: dies.id, attempts: 1, body: dies.body }])
    expect(await inbox.browse?.({ state: 'dead', key: dies.key })).toMatchObject([
      { receivedAt: dies.receivedAt },
    ])
    expect(await inbox.throughput?.()).toMatchObject([{ handled: 3, deadLettered: 1 }])
    expect(await inbox.deadLetters.redrive(dies.key)).toBe(true)
    await until('it ran again', () => ran.length === 5)
    expect(database.prepare('SELECT n FROM mine').get()).toEqual([7n])
    await inbox.close(1000)
    database.close()
  }))

it('dead-letters unreadable events, which can be listed and discarded, and runs all others', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const filling = sqliteInbox({ path })
    await startInbox(filling, { concurrency: 0 })
    for (const id of ['no_body', 'no_json', 'late', 'crashed', 'fine']) {
      const body = new TextEncoder().encode(
        JSON.stringify({ id, type: 'a.b', created_at: '2026-11-22T00:00:00Z', data: {} }),
      )
      expect(await filling.accept(newDelivery({ id, body }))).toEqual({ outcome: 'accepted' })
    }
    await filling.close(1000)
    const file = new DatabaseSync(path)
    file.exec(`DELETE FROM ackhook_bodies WHERE seq = 1;
      UPDATE ackhook_bodies SET body = x'ff00' WHERE seq = 2;
      UPDATE ackhook_events SET received_at = 1152921504606846976 WHERE id = 'late';
      UPDATE ackhook_events SET fingerprint = 1152921504606846976 WHERE id = 'crashed';
      INSERT INTO ackhook_processes VALUES ('x', 'no json', 1, 9007199254740993), ('y', 'null', 1, 4503599627370496)`)
    file.close()

    const seen: Observation[] = []
    const logged: unknown[] = []
    const ran: string[] = []
    const note = (_fields: object, message: string) => void logged.push(message)
    const inbox = sqliteInbox({ path, poll: '20ms' })
    const receiver = createReceiver({
      secret: 'whsec_unreadable_0123456789',
      inbox,
      retry: { attempts: 1 },
      logger: { info() {}, warn: note, error: note },
      observe: one => seen.push(one),
    })
    receiver.on('*', event => void ran.push(event.id))
    await receiver.start()
    await until('all others ran', () => ['crashed', 'fine', 'late'].every(id => ran.includes(id)))
    await until('two are dead', async () => (await receiver.stats()).dead === 2)
    const letters = await receiver.deadLetters.list()
    expect(letters.map(({ id }) => id).toSorted()).toEqual(['no_body', 'no_json'])
    expect(seen.filter(({ kind }) => kind === 'dead_lettered')).toHaveLength(2)
    expect(logged.filter(message => /no_body|no_json/.test(String(message)))).not.toEqual([])
    for (const { key } of letters) expect(await inbox.deadLetters.discard(key)).toBe(true)
    const event = { id: 'new', type: 'a.b', created_at: '2026-11-22T00:00:00Z', data: {} }
    const reply = await receiver.handle(signedRequest(event, { secret: 'whsec_unreadable_0123456789' }))
    expect(reply.status).toBe(202)
    await until('the new one ran', () => ran.includes('new'))
    expect(await receiver.stats()).toMatchObject({ dead: 0, pending: 0 })
    await receiver.close({ timeout: '2s' })
  }))

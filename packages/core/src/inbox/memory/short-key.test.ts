import { expect, it } from 'vitest'
import { eventKey } from '../../events/event-key.ts'
import { shortKey } from './short-key.ts'

it('is the id where that is short and plain', () => {
  for (const id of ['a', 'evt_1', 'x'.repeat(40), '2f1c9a34-5b7e-4d21-9c55-0a1b2c3d4e5f'])
    expect(shortKey('', id)).toBe(id)
})

it('is the hash of any other event, so that no two events share a key and each fits into an address', async () => {
  const hash = await eventKey('', 'evt_1')
  for (const [namespace, id] of [
    ['', 'x'.repeat(41)],
    ['', 'a.b'],
    ['', 'evt 1'],
    ['', 'é'],
    ['', '__proto__\n'],
    ['', ''],
    ['tenant', 'evt_1'],
    // As long as a hash: the id of one event could be the key of another.
    ['', hash],
  ] as const) {
    expect(await shortKey(namespace, id)).toBe(await eventKey(namespace, id))
    expect(await shortKey(namespace, id)).toMatch(/^[\w-]{22}$/)
  }
})

import { afterEach, describe, expect, it, vi } from 'vitest'
import type { StoreNotice } from '../dedupe-store.ts'
import { SeenIds } from './seen-ids.ts'

const KEYS = ['evt_a', 'evt_b', 'evt_c']
const LONG_MS = 600_000

afterEach(() => {
  vi.useRealTimers()
})

function remember(ids: SeenIds, key: string, fingerprint = 0): void {
  ids.complete(key, '', { fingerprint, retentionMs: LONG_MS })
}

it('keeps the latest fingerprint of each id', () => {
  const ids = new SeenIds(10)
  for (const [i, key] of KEYS.entries()) remember(ids, key, i)
  const handled = (...fingerprints: number[]) => KEYS.map((key, i) => ids.handled(key, fingerprints[i]!))
  expect(handled(0, 1, 2)).toEqual(['completed', 'completed', 'completed'])
  expect(handled(1, 2, 0)).toEqual(['conflict', 'conflict', 'conflict'])
  expect(ids.forget('evt_a')).toBe(true)
  expect(handled(0, 1, 2)).toEqual([undefined, 'completed', 'completed'])
  remember(ids, 'evt_a', 3)
  remember(ids, 'evt_b', 4)
  expect(handled(3, 4, 2)).toEqual(['completed', 'completed', 'completed'])
  expect(ids.handled('evt_d', 0)).toBeUndefined()
})

it('forgets only the oldest id if there is one too many', () => {
  const ids = new SeenIds(3)
  for (const key of [...KEYS, 'evt_1']) remember(ids, key)
  expect([...KEYS, 'evt_1'].map(key => ids.handled(key, 0))).toEqual([
    undefined,
    'completed',
    'completed',
    'completed',
  ])
})

it('forgets in the order of arrival, however often an id is looked up', () => {
  const ids = new SeenIds(3)
  for (const key of KEYS) remember(ids, key)
  expect(ids.handled('evt_a', 0)).toBe('completed')
  remember(ids, 'evt_1')
  expect(ids.handled('evt_a', 0)).toBeUndefined()
  expect(ids.handled('evt_b', 0)).toBe('completed')
})

it('reports nothing if new ids evict expired ones', () => {
  vi.useFakeTimers()
  const ids = new SeenIds(10_000)
  const reported: StoreNotice[] = []
  ids.start(notice => reported.push(notice))
  for (let i = 0; i < 10_000; i++) remember(ids, `old_${i}`)
  vi.advanceTimersByTime(LONG_MS)
  for (let i = 0; i < 10_000; i++) remember(ids, `new_${i}`)
  expect(reported).toEqual([])
  expect(ids.handled('new_0', 0)).toBe('completed')
  remember(ids, 'one_too_many')
  expect(reported.map(({ code }) => code)).toEqual(['ids_evicted'])
})

it('sets no timer', () => {
  vi.useFakeTimers()
  const ids = new SeenIds(2)
  for (const key of KEYS) remember(ids, key)
  ids.handled('evt_b', 0)
  ids.forget('evt_b')
  expect(vi.getTimerCount()).toBe(0)
})

it('forgets an expired id, and has no id to forget then', () => {
  vi.useFakeTimers()
  const ids = new SeenIds(3)
  remember(ids, 'evt_a')
  vi.advanceTimersByTime(LONG_MS)
  expect(ids.handled('evt_a', 0)).toBeUndefined()
  expect(ids.forget('evt_a')).toBe(false)
})

it('remembers the same ids as a plain list of the newest', () => {
  const ids = new SeenIds(8)
  const keys = ['Aa', 'BB', 'C#'].flatMap(a => ['Aa', 'BB', 'C#', 'xx'].map(b => a + b))
  let newest: string[] = []
  let seed = 1
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let step = 0; step < 2000; step++) {
    const key = keys[random(keys.length)] as string
    const others = newest.filter(one => one !== key)
    if (random(4) === 0) {
      expect(ids.forget(key)).toBe(newest.includes(key))
      newest = others
    } else {
      remember(ids, key)
      newest = [...others, key].slice(-8)
    }
    expect(keys.filter(one => ids.handled(one, 0) !== undefined)).toEqual(
      keys.filter(one => newest.includes(one)),
    )
  }
})

describe('namespaces of one set', () => {
  const REPLAYABLE_MS = 600_000
  const DAY_MS = 86_400_000
  const inNamespace = (ids: SeenIds, namespace: string, key: string): void =>
    void ids.complete(key, '', {
      fingerprint: key.length - 2 ** 31,
      retentionMs: DAY_MS,
      namespace,
      replayableMs: REPLAYABLE_MS,
    })
  const knows = (ids: SeenIds, key: string): boolean => ids.handled(key, key.length - 2 ** 31) === 'completed'

  it("keeps a tenant's ids while another's events push out its own", () => {
    const ids = new SeenIds(1000)
    for (let i = 0; i < 50; i++) inNamespace(ids, 'quiet', `quiet_${i}`)
    for (let i = 0; i < 100_000; i++) inNamespace(ids, 'busy', `busy_${i}`)
    for (let i = 0; i < 50; i++) expect([i, knows(ids, `quiet_${i}`)]).toEqual([i, true])
    expect([knows(ids, 'busy_99999'), knows(ids, 'busy_1000'), knows(ids, 'busy_98000')]).toEqual([
      true,
      false,
      false,
    ])
  })

  it('lets a namespace push out its own, as the only one and beside others', () => {
    const ids = new SeenIds(10)
    for (let i = 0; i < 20; i++) inNamespace(ids, 'one', `one_${i}`)
    expect([knows(ids, 'one_9'), knows(ids, 'one_10')]).toEqual([false, true])
    inNamespace(ids, 'other', 'other_0')
    inNamespace(ids, 'one', 'one_20')
    expect([knows(ids, 'one_10'), knows(ids, 'one_11'), knows(ids, 'one_12'), knows(ids, 'other_0')]).toEqual(
      [false, false, true, true],
    )
  })

  it('protects an id only as long as its event can be replayed, and not once it has expired', () => {
    vi.useFakeTimers()
    const ids = new SeenIds(100)
    inNamespace(ids, 'quiet', 'quiet_old')
    vi.advanceTimersByTime(REPLAYABLE_MS)
    inNamespace(ids, 'quiet', 'quiet_young')
    for (let i = 0; i < 100; i++) inNamespace(ids, 'busy', `busy_${i}`)
    expect([knows(ids, 'quiet_old'), knows(ids, 'quiet_young')]).toEqual([false, true])
    vi.advanceTimersByTime(REPLAYABLE_MS)
    for (let i = 0; i < 300; i++) inNamespace(ids, 'busy', `late_${i}`)
    expect(knows(ids, 'quiet_young')).toBe(false)
  })

  it('keeps the time that a protected id has left, though it gets another turn', () => {
    vi.useFakeTimers()
    const ids = new SeenIds(100)
    inNamespace(ids, 'quiet', 'quiet')
    vi.advanceTimersByTime(300_000)
    for (let i = 0; i < 5000; i++) inNamespace(ids, 'busy', `busy_${i}`)
    expect(ids.lookup('quiet')).toEqual({ state: 'handled', leftMs: DAY_MS - 300_000 })
    expect(ids.handled('quiet', 1)).toBe('conflict')
  })

  it('holds at most a sixty-fourth more than its bound, and looks at few ids for each, whatever their order', () => {
    const max = 20_000
    const ids = new SeenIds(max)
    const names = Array.from({ length: 100 }, (_, i) => `tenant_${i}`)
    const kept: string[] = []
    const add = (name: string, i: number): void => {
      inNamespace(ids, name, `${name}_${i}`)
      kept.push(`${name}_${i}`)
    }
    // All of the small ones come first, so that those of the largest are found last.
    for (let i = 0; i < 100; i++) for (const name of names.slice(1)) add(name, i)
    for (let i = 0; i < 60_000; i++) add('tenant_0', i)
    const held = kept.filter(key => knows(ids, key))
    expect(held.length).toBeGreaterThanOrEqual(max)
    expect(held.length).toBeLessThanOrEqual(max + max / 64 + 1)
    expect(held.filter(key => !key.startsWith('tenant_0_'))).toHaveLength(9900)
  })

  it('takes from the largest, in turn, when many tenants share it', () => {
    const ids = new SeenIds(1000)
    for (let i = 0; i < 3000; i++) inNamespace(ids, `tenant_${i % 10}`, `${i % 10}_${Math.floor(i / 10)}`)
    for (let tenant = 0; tenant < 10; tenant++) {
      const held = Array.from({ length: 300 }, (_, i) => knows(ids, `${tenant}_${i}`)).filter(Boolean).length
      expect(held).toBeGreaterThan(90)
    }
    for (let i = 0; i < 300; i++) inNamespace(ids, `new_${i}`, `new_${i}`)
    for (let i = 0; i < 300; i++) expect(knows(ids, `new_${i}`)).toBe(true)
  })

  it('counts an id that is handled again or forgotten once', () => {
    const ids = new SeenIds(4)
    for (const fingerprint of [1, 1, 2, 3])
      ids.complete('a', '', {
        fingerprint,
        retentionMs: DAY_MS,
        namespace: 'one',
        replayableMs: REPLAYABLE_MS,
      })
    inNamespace(ids, 'two', 'x')
    inNamespace(ids, 'two', 'y')
    inNamespace(ids, 'two', 'z')
    inNamespace(ids, 'three', 'new')
    expect([ids.handled('a', 3), knows(ids, 'x'), knows(ids, 'y')]).toEqual(['completed', false, true])
    for (const key of ['a', 'y', 'z', 'new']) expect(ids.forget(key)).toBe(true)
    for (let i = 0; i < 8; i++) inNamespace(ids, 'two', `w_${i}`)
    expect([knows(ids, 'w_3'), knows(ids, 'w_4')]).toEqual([false, true])
  })
})

import { type DedupeStore, memoryStore } from '@ackhook/core'
import { describe, expect, test } from 'vitest'
import { storeSuite } from './index.ts'

const cases = storeSuite({
  open: () => both(memoryStore()),
  openSmall: maxClaims => both(memoryStore({ maxClaims })),
})

describe('memoryStore', () => {
  for (const { id, name, run } of cases) test(`${name} (${id})`, run)
})

describe('the suite', () => {
  test('gives every case a unique id', () => {
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
  })

  test('fails a store that treats a repeated claim as a duplicate', async () => {
    const broken = (store: DedupeStore): DedupeStore => ({
      ...store,
      async claim(key, token, options) {
        if (await store.extend(key, token, options.leaseMs)) return { outcome: 'completed' }
        return store.claim(key, token, options)
      },
    })
    expect(await failing(broken)).toContain('store.claim.own-token')
  })

  test('fails a store whose methods ignore the token', async () => {
    const owners = new Map<string, string>()
    const broken = (store: DedupeStore): DedupeStore => ({
      ...store,
      claim: async (key, token, options) => {
        const answer = await store.claim(key, token, options)
        if (answer.outcome === 'claimed') owners.set(key, token)
        return answer
      },
      release: (key, token) => store.release(key, owners.get(key) ?? token),
      complete: (key, token, options) => store.complete(key, owners.get(key) ?? token, options),
    })
    expect(await failing(broken)).toEqual(
      expect.arrayContaining(['store.stale-owner', 'store.claim.token-is-data']),
    )
  })

  test('counts no answer as a failure if the store leaves deadlines to the inbox', async () => {
    const openFailing = () => {
      const inner = memoryStore()
      let isDown = false
      const unlessDown = <T>(call: () => T) => (isDown ? new Promise<never>(() => {}) : call())
      const store: DedupeStore = {
        ...inner,
        claim: (...given) => unlessDown(() => inner.claim(...given)),
        extend: (...given) => unlessDown(() => inner.extend(...given)),
        complete: (...given) => unlessDown(() => inner.complete(...given)),
        release: (...given) => unlessDown(() => inner.release(...given)),
        forget: (...given) => unlessDown(() => inner.forget(...given)),
      }
      const fail = (isFailing: boolean): void => {
        isDown = isFailing
      }
      return { ...both(store), fail }
    }
    const all = storeSuite({ open: openFailing, openFailing })
    for (const { needs, run } of all) if (needs.includes('openFailing')) await run()
  })

  test('fails a store whose claims last for the whole retention', async () => {
    const broken = (store: DedupeStore): DedupeStore => ({
      ...store,
      claim: async (key, token, claim) => store.claim(key, token, { ...claim, leaseMs: 604_800_000 }),
    })
    expect(await failing(broken, ['store.claim.in-flight'])).toEqual(['store.claim.in-flight'])
  })
})

function both(store: DedupeStore) {
  return { first: store, second: store }
}

async function failing(
  breakIt: (store: DedupeStore) => DedupeStore,
  only?: readonly string[],
): Promise<string[]> {
  const failed: string[] = []
  for (const { id, run } of storeSuite({ open: () => both(breakIt(memoryStore())) })) {
    if (only !== undefined && !only.includes(id)) continue
    await run().catch(() => failed.push(id))
  }
  return failed
}

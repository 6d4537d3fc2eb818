import type { MaybePromise } from '@ackhook/core'
import { CLAIM_CHECKS } from './claim-checks.ts'
import { COMPLETION_CHECKS, ROOM_CHECKS } from './completion-checks.ts'
import type { OpenStores, StoreCase, StoreCheck, StoreHarness } from './store-harness.ts'

/**
 * Every promise of a `DedupeStore` as a case for any test runner. Each opens stores of its own and waits for
 * conditions, not for fixed times; the longest takes about a second.
 *
 * @example
 * const cases = storeSuite({ open: () => { const store = memoryStore(); return { first: store, second: store } } })
 * for (const { id, name, run } of cases) test(`${name} (${id})`, run)
 */
export function storeSuite(harness: StoreHarness): readonly StoreCase[] {
  const cases = [...CLAIM_CHECKS, ...COMPLETION_CHECKS].map(check => toCase(check, () => harness.open()))
  const { openSmall } = harness
  if (openSmall === undefined) return cases
  return [...cases, ...ROOM_CHECKS.map(check => toCase(check, () => openSmall(2)))]
}

function toCase({ id, name, check }: StoreCheck, open: () => MaybePromise<OpenStores>): StoreCase {
  return {
    id,
    name,
    async run() {
      const stores = await open()
      try {
        await check(stores)
      } finally {
        await stores.close?.()
      }
    },
  }
}

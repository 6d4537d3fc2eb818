import type { MaybePromise } from '@ackhook/core'
import { bindCases, type SuiteCase } from '../lib/suite-case.ts'
import { capacityCases } from './cases/capacity.ts'
import { claimCases } from './cases/claim.ts'
import { completionCases } from './cases/completion.ts'
import type { StoreTarget } from './target.ts'

const CASES = [...claimCases, ...completionCases]

/**
 * What every `DedupeStore` promises, for any test runner. Each case opens stores of its own and waits for conditions,
 * not for fixed times. The longest takes about a second.
 *
 * @example
 * const open = () => { const store = memoryStore(); return { first: store, second: store } }
 * for (const { id, name, run } of storeSuite({ open })) test(`${id}: ${name}`, run)
 */
export function storeSuite({ open, openSmall }: StoreSuiteOptions): readonly SuiteCase[] {
  const cases = bindCases(CASES, open)
  if (openSmall === undefined) return cases
  return [...cases, ...bindCases(capacityCases, () => openSmall(2))]
}

/** How {@link storeSuite} finds what it tests. */
export interface StoreSuiteOptions {
  /** A target with nothing in it, for one case. */
  open(): MaybePromise<StoreTarget>
  /** The same with room for this many concurrent claims, if the store can be limited. */
  openSmall?(claims: number): MaybePromise<StoreTarget>
}

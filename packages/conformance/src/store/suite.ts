import type { MaybePromise } from '@ackhook/core'
import { bindCases, type SuiteCases, selectCases } from '../lib/suite-case.ts'
import { capacityCases } from './cases/capacity.ts'
import { claimCases } from './cases/claim.ts'
import { cleanupCases } from './cases/cleanup.ts'
import { completionCases } from './cases/completion.ts'
import { failureCases } from './cases/failures.ts'
import { runCases } from './cases/runs.ts'
import { timeCases } from './cases/time.ts'
import type { CountedStoreTarget, FailingStoreTarget, StoreTarget } from './target.ts'

/**
 * Cases that every `DedupeStore` must pass, for any test runner. Each case opens its own stores and waits for
 * conditions, not for fixed times. The longest takes about two seconds. `notRun` lists the cases whose hook is missing.
 *
 * @example
 * const open = () => { const store = memoryStore(); return { first: store, second: store } }
 * for (const { id, name, run } of storeSuite({ open })) test(`${id}: ${name}`, run)
 */
export function storeSuite({ open, openSmall, openFailing, openCounted }: StoreSuiteOptions): SuiteCases {
  const hooks: Readonly<Record<string, unknown>> = { openSmall, openFailing, openCounted }
  const all = [
    ...bindCases([...claimCases, ...completionCases, ...runCases, ...timeCases], open),
    ...bindCases(capacityCases, () => openSmall!(2)),
    ...bindCases(failureCases, () => openFailing!()),
    ...bindCases(cleanupCases, () => openCounted!()),
  ]
  return selectCases(all, need => hooks[need] !== undefined)
}

/** Functions by which {@link storeSuite} reaches the store under test. */
export interface StoreSuiteOptions {
  /** Returns an empty target for one case. */
  open(): MaybePromise<StoreTarget>
  /** Returns the same with room for this many concurrent claims, if the store can be limited. */
  openSmall?(claims: number): MaybePromise<StoreTarget>
  /** Returns the same with a server whose commands can be made to fail. */
  openFailing?(): MaybePromise<FailingStoreTarget>
  /** Returns the same with a way to count its ids, if the store deletes expired ones. */
  openCounted?(): MaybePromise<CountedStoreTarget>
}

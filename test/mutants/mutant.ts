import type { SuiteCase } from '@ackhook/testing/store-suite'

/** A faulty implementation that its suite must fail. */
export interface Mutant {
  readonly name: string
  /** The fault, as a clause about the implementation: "extends a lease that has expired". */
  readonly wrong: string
  /** The id of the case that is expected to fail. It runs first, so that the others are seldom needed. */
  readonly caughtBy: string
  /** The reason why a suite cannot catch it. Without one, it counts against the suite when it passes. */
  readonly mayPass?: string
  /** The cases of the suite, bound to the faulty implementation. */
  cases(): readonly SuiteCase[]
}

/** What each file of faulty implementations exports as `mutants`. */
export type Mutants = readonly Mutant[]

/** What `control.ts` of each folder exports as `control`: the cases on a correct implementation of the same kind. */
export type Control = () => readonly SuiteCase[]

import type { SuiteCase } from '@ackhook/conformance/store'

/** A faulty implementation that its suite must fail. */
export interface Mutant {
  readonly name: string
  /** The fault, as a clause about the implementation: "extends an expired lease". */
  readonly wrong: string
  /** Id of the case that should fail. It runs first, so that the others are rarely needed. */
  readonly caughtBy: string
  /** Reason why a suite cannot catch it. Without one, a mutant that passes counts against the suite. */
  readonly mayPass?: string
  /** Returns the suite's cases for the faulty implementation. */
  cases(): readonly SuiteCase[]
}

/** The export `mutants` of each file of faulty implementations. */
export type Mutants = readonly Mutant[]

/** The export `control` of each folder's `control.ts`: the cases for a correct implementation of the same kind. */
export type Control = () => readonly SuiteCase[]

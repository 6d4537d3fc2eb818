import type { MaybePromise } from '@ackhook/core'

/** One promise, as a case for any test runner. `id` never changes its meaning. */
export interface SuiteCase {
  readonly id: string
  /** The promise, as a sentence. */
  readonly name: string
  /** Resolves when the promise holds; rejects with a plain `Error` that says what happened instead. */
  run(): Promise<void>
}

/** A case before it has a target. */
export interface TargetCase<Target> {
  readonly id: string
  readonly name: string
  run(target: Target): Promise<void>
}

/** What a case runs against. */
export interface Closable {
  /** Called at the end of each case, also when it failed. */
  close?(): MaybePromise<void>
}

/** Opens a target for each case and closes it when the case ends. */
export function bindCases<Target extends Closable>(
  cases: readonly TargetCase<Target>[],
  open: () => MaybePromise<Target>,
): readonly SuiteCase[] {
  return cases.map(({ id, name, run }) => ({
    id,
    name,
    async run() {
      const target = await open()
      try {
        await run(target)
      } finally {
        await target.close?.()
      }
    },
  }))
}

import type { MaybePromise } from '@ackhook/core'

/** One guarantee, as a case for any test runner. `id` never changes its meaning. */
export interface SuiteCase {
  readonly id: string
  /** The guarantee, as a sentence. */
  readonly name: string
  /** Capabilities and hooks that the case needs. Without them it is not run. */
  readonly needs: readonly string[]
  /** Time limit for the test runner in milliseconds: several times what the case takes on a busy machine. */
  readonly timeLimitMs: number
  /** Resolves if the guarantee holds; otherwise rejects with a plain `Error` that says what happened instead. */
  run(): Promise<void>
}

/** Cases that cannot be run on a target because one thing is missing. */
export interface NotRun {
  /** The capability or hook: `crash`. */
  readonly missing: string
  readonly ids: readonly string[]
  /** Line for a report: ``3 cases not run: no `crash` ``. */
  readonly text: string
}

/** A suite's cases, with a list of the omitted ones. */
export interface SuiteCases extends ReadonlyArray<SuiteCase> {
  readonly notRun: readonly NotRun[]
}

/** A case without its target. */
export interface TargetCase<Target> {
  readonly id: string
  readonly name: string
  readonly needs?: readonly string[]
  /** Default: 30 s. */
  readonly timeLimitMs?: number
  run(target: Target): Promise<void>
}

/** A case's target. */
export interface Closable {
  /** Called at the end of each case, even if it failed. */
  close?(): MaybePromise<void>
}

const TIME_LIMIT_MS = 30_000

/** Opens a target for each case and closes it when the case ends. */
export function bindCases<Target extends Closable>(
  cases: readonly TargetCase<Target>[],
  open: () => MaybePromise<Target>,
): readonly SuiteCase[] {
  return cases.map(({ id, name, needs = [], timeLimitMs = TIME_LIMIT_MS, run }) => ({
    id,
    name,
    needs,
    timeLimitMs,
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

/**
 * Omits the cases with a missing need, and lists them. Each case is counted under its first missing need.
 */
export function selectCases(all: readonly SuiteCase[], isThere: (need: string) => boolean): SuiteCases {
  const idsByNeed = new Map<string, string[]>()
  const cases = all.filter(({ id, needs }) => {
    const missing = needs.find(need => !isThere(need))
    if (missing === undefined) return true
    idsByNeed.set(missing, [...(idsByNeed.get(missing) ?? []), id])
    return false
  })
  const notRun = Array.from(idsByNeed, ([missing, ids]) => ({
    missing,
    ids,
    text: textOf(missing, ids.length),
  }))
  return Object.assign(cases, { notRun })
}

function textOf(missing: string, count: number): string {
  return `${count} ${count === 1 ? 'case' : 'cases'} not run: no \`${missing}\``
}

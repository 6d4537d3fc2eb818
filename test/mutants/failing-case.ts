import { runCase } from '@ackhook/conformance'
import type { SuiteCase } from '@ackhook/conformance/store'
import type { Mutant } from './mutant.ts'

/** Time after which a case counts as hung: longer than any case takes, shorter than a patient test runner's limit. */
const HANGS_AFTER_MS = 40_000

/** Returns the id of the first failing case, if any. A mutant's cases run one after the other. */
export async function failingCase({ caughtBy, cases }: Mutant): Promise<string | undefined> {
  const all = cases()
  if (!all.some(({ id }) => id === caughtBy)) throw new Error(`The suite has no case ${caughtBy}`)
  const ordered = [...all].sort((a, b) => Number(b.id === caughtBy) - Number(a.id === caughtBy))
  for (const one of ordered) {
    if ((await reasonOf(one)) !== undefined) return one.id
  }
  return undefined
}

/** Returns the reason why a case failed, if it failed. */
export async function reasonOf(one: SuiteCase): Promise<string | undefined> {
  return (await runCase(one, Math.min(one.timeLimitMs, HANGS_AFTER_MS)))?.toString()
}

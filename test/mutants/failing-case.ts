import { runCase } from '@ackhook/testing/spi'
import type { SuiteCase } from '@ackhook/testing/store-suite'
import type { Mutant } from './mutant.ts'

/** A case that hangs has failed. Longer than any case takes, shorter than the limit of a patient test runner. */
const HANGS_AFTER_MS = 40_000

/** Id of the first case that fails, or nothing. Cases of one mutant run one after the other. */
export async function failingCase({ caughtBy, cases }: Mutant): Promise<string | undefined> {
  const all = cases()
  if (!all.some(({ id }) => id === caughtBy)) throw new Error(`The suite has no case ${caughtBy}`)
  const ordered = [...all].sort((a, b) => Number(b.id === caughtBy) - Number(a.id === caughtBy))
  for (const one of ordered) {
    if ((await reasonOf(one)) !== undefined) return one.id
  }
  return undefined
}

/** Says why a case failed, or nothing. */
export async function reasonOf(one: SuiteCase): Promise<string | undefined> {
  return (await runCase(one, Math.min(one.timeLimitMs, HANGS_AFTER_MS)))?.toString()
}

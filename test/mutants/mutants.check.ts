import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { failingCase, reasonOf } from './failing-case.ts'
import type { Control, Mutant, Mutants } from './mutant.ts'

const KINDS = ['stores', 'inboxes', 'adapters'] as const
/** Share of faulty implementations that may pass a suite without a stated reason. */
const MOST_PASSED = 0.05

for (const kind of KINDS) {
  const { control, mutants } = await load(kind)
  if (mutants.length === 0) continue
  describe(kind, () => {
    const passed: Mutant[] = []

    test.runIf(control !== undefined)('the correct implementation passes', async () => {
      const reasons: string[] = []
      for (const one of control?.() ?? []) {
        const reason = await reasonOf(one)
        if (reason !== undefined) reasons.push(`${one.id}: ${reason}`)
      }
      expect(reasons).toEqual([])
    })

    test('each has a unique name', () => {
      expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
    })

    for (const mutant of mutants) {
      test.concurrent(`${mutant.name}: ${mutant.wrong}`, async ({ annotate }) => {
        const id = await failingCase(mutant)
        if (id === undefined) passed.push(mutant)
        else if (mutant.mayPass !== undefined) throw new Error(`${id} catches it: remove its mayPass`)
        else if (id !== mutant.caughtBy) await annotate(`caught by ${id}, not by ${mutant.caughtBy}`)
      })
    }

    test('at most one in twenty passes without a reason', () => {
      const unexplained = passed.filter(({ mayPass }) => mayPass === undefined)
      const names = unexplained.map(({ name, wrong }) => `${name}: ${wrong}`)
      console.log(`${kind}: ${mutants.length - passed.length} of ${mutants.length} caught`)
      if (names.length > 0) console.log(`Passed without a reason:\n  ${names.join('\n  ')}`)
      expect(names.length / mutants.length, names.join('\n')).toBeLessThanOrEqual(MOST_PASSED)
    })
  })
}

async function load(kind: string): Promise<{ control: Control | undefined; mutants: Mutants }> {
  const folder = fileURLToPath(new URL(`${kind}/`, import.meta.url))
  let control: Control | undefined
  const mutants: Mutant[] = []
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.ts')) continue
    const exported = (await import(/* @vite-ignore */ `${folder}${file}`)) as {
      readonly mutants?: Mutants
      readonly control?: Control
    }
    control ??= exported.control
    mutants.push(...(exported.mutants ?? []))
  }
  return { control, mutants }
}

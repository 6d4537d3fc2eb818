import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CODES } from '../../packages/core/src/errors/codes.ts'
import { ROOT } from '../support/workspace-packages.ts'

it("has a cause and a fix for each refusal: the emulator's page shows them, and the log refers to them", () => {
  const page = readFileSync(`${ROOT}docs/errors.md`, 'utf8')
  // As in ui/page-options.mjs.
  const rows = page.matchAll(/^\| `(\w+)` \| \d{3}[^|]*\| [^|]{3,} \| [^|]{3,} \|$/gm)
  const explained = [...rows].map(([, code]) => code)
  const refusals = Object.entries(CODES).filter(([, { status }]) => status >= 400)
  expect(explained).toEqual(
    expect.arrayContaining(refusals.flatMap(([code, { reply }]) => [code, reply ?? code])),
  )
})

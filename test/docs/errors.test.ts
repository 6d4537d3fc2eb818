import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CODES } from '../../packages/core/src/errors/codes.ts'
import { filesUnder, ROOT } from '../support/workspace-packages.ts'

const page = readFileSync(`${ROOT}docs/errors.md`, 'utf8')
const [, accepted = '', refused = '', thrown = '', noticed = ''] = page.split(/^## /m)

it('describes every reply code once, with its status, and each code that covers several of them', () => {
  const replies = new Map<string, string>()
  const documented = [...rows(accepted), ...rows(refused)].map(([code, status]) => [code, status])
  const table = Object.entries(CODES).map(([code, { status, reply }]) => [
    `\`${code}\``,
    reply === undefined ? String(status) : `${status} (\`${reply}\`)`,
  ])
  for (const { status, reply } of Object.values(CODES))
    if (reply !== undefined) replies.set(`\`${reply}\``, String(status))
  expect(documented.sort()).toEqual([...table, ...replies].sort())
})

it('gives each refusal a cause and a fix', () => {
  for (const cells of rows(refused))
    expect([cells[0], cells.every(cell => cell.length > 2)]).toEqual([cells[0], true])
})

it('describes every thrown code', () => {
  const source = readFileSync(`${ROOT}packages/core/src/errors/errors.ts`, 'utf8')
  const declared = /ReplyCode\n((?: {2}\| '\w+'\n)+)/.exec(source)?.[1] ?? ''
  const codes = [...declared.matchAll(/'(\w+)'/g)].map(match => `\`${match[1]}\``)
  expect(codes.length).toBeGreaterThan(5)
  expect(
    rows(thrown)
      .map(cells => cells[0])
      .sort(),
  ).toEqual(codes.sort())
})

/** Packages with their own replies and codes: the command line and the emulator's API. */
const ANSWERS = /^(cli|emulator)\//

it('describes every warning code of every package', () => {
  const sources = filesUnder(`${ROOT}packages`).filter(
    file => /^\w+\/src\/(?!.*\.test)[^.]+\.ts$/.test(file) && !ANSWERS.test(file),
  )
  const codes = sources.flatMap(file =>
    [...readFileSync(`${ROOT}packages/${file}`, 'utf8').matchAll(/\bcode: '(\w+)'/g)].map(
      ([, code]) => `${code}`,
    ),
  )
  const warnings = [...new Set(codes)].filter(code => !(code in CODES))
  expect(
    rows(noticed)
      .map(cells => cells[0])
      .sort(),
  ).toEqual(warnings.map(code => `\`${code}\``).sort())
})

it('lists every code that a reply can carry by its status', () => {
  const listed = [...page.matchAll(/^\| (\d{3}) \| ([^|]+) \|/gm)].flatMap(([, status, codes = '']) =>
    [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => `${code} ${status}`),
  )
  const table = Object.entries(CODES).map(([code, { status, reply }]) => `${reply ?? code} ${status}`)
  expect(listed.sort()).toEqual([...new Set(table)].sort())
})

/** Returns the cells of a section's table, without its head. */
function rows(section: string): string[][] {
  return section
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .map(line =>
      line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim()),
    )
}

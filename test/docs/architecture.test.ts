import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ROOT } from '../support/workspace-packages.ts'

const map = readFileSync(`${ROOT}ARCHITECTURE.md`, 'utf8')
const places = [ROOT, `${ROOT}packages/core/src/`]

it('ARCHITECTURE.md names files that exist', () => {
  const named = [...map.matchAll(/[\w./{},*-]+\/[\w./-]+\.(?:ts|md|mjs)\b/g)].map(match => match[0])
  expect(named.flatMap(alternatives).filter(file => !isThere(file))).toEqual([])
})

function isThere(file: string): boolean {
  return places.some(place => existsSync(place + file))
}

// A star means each platform.
function alternatives(path: string): readonly string[] {
  return path.includes('*') ? ['node', 'web'].map(one => path.replace('*', one)) : [path]
}

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { filesUnder, ROOT } from '../support/workspace-packages.ts'

const notes = [
  ...readFileSync(`${ROOT}docs/internals/performance.md`, 'utf8').matchAll(/^### Note (\d+): /gm),
].map(([, number]) => Number(number))

const sources = filesUnder(`${ROOT}packages`).filter(file => /^\w+\/src\/.*\.ts$/.test(file))
const scripts = filesUnder(`${ROOT}scripts`)
const references = [
  ...sources.map(file => `packages/${file}`),
  ...scripts.map(file => `scripts/${file}`),
].flatMap(file =>
  readFileSync(`${ROOT}${file}`, 'utf8')
    .split('\n')
    .filter(line => line.includes('perf:'))
    .map(line => ({ file, line: line.trim() })),
)

it('numbers each performance note once', () => {
  expect(notes.length).toBeGreaterThan(20)
  expect(new Set(notes).size).toBe(notes.length)
})

it('every comment about performance ends with note numbers', () => {
  const odd = references.filter(({ line }) => !/ perf: (note \d+|notes \d+(, \d+)+)\.( \*\/)?$/.test(line))
  expect(odd).toEqual([])
})

it('every note that a comment cites exists, and every note is cited', () => {
  const referred = references.flatMap(({ line }) =>
    (/perf: notes? ([\d, ]+)/.exec(line)?.[1] ?? '').split(', ').map(Number),
  )
  expect([...new Set(referred)].sort((a, b) => a - b)).toEqual(notes)
})

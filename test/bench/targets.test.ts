import { existsSync, readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { drawHttpChart } from '../../bench/lib/chart.mjs'
import { ageOf, codeOf, measuredCommit, SUBJECTS } from '../../bench/lib/code.mjs'
import { judge, targetsTable } from '../../bench/targets.mjs'
import { ROOT } from '../support/workspace-packages.ts'

const narrow = (middle: number) => ({ middle, low: middle * 0.98, high: middle * 1.02, isNarrow: true })
const wide = (middle: number) => ({ middle, low: middle * 0.8, high: middle * 1.2, isNarrow: false })

it('calls a target out of reach if the native calls alone miss it', () => {
  expect(judge({ measured: narrow(2.5), least: 3, bound: narrow(2.7) })).toBe('out of reach')
  expect(judge({ measured: narrow(2.5), least: 3, bound: narrow(5) })).toBe('missed')
  expect(judge({ measured: narrow(3.2), least: 3, bound: narrow(5) })).toBe('met')
})

it('calls an upper limit out of reach if the floor exceeds it', () => {
  expect(judge({ measured: narrow(1.65), most: 1.5, bound: narrow(1.6) })).toBe('out of reach')
  expect(judge({ measured: narrow(1.65), most: 1.5, bound: narrow(1.5) })).toBe('missed')
  expect(judge({ measured: narrow(1.4), most: 1.5, bound: narrow(1.3) })).toBe('met')
})

it('shows the floor after a figure', () => {
  const alone = {
    300: { peers: { 'stripe verifyHeader': narrow(1.6) }, bounds: { 'stripe verifyHeader': narrow(1.7) } },
  }
  const figures = { alone }
  expect(targetsTable([{ subject: 'verify', node: 20, figures }])).toContain(
    '; native calls alone 1.70 | out of reach |',
  )
})

it('judges a figure without an interval by its value', () => {
  expect(judge({ measured: 117, most: 120 })).toBe('met')
  expect(judge({ measured: 121, most: 120 })).toBe('missed')
})

it('has rows for measured targets only', () => {
  const figures = { express: { 300: { cpu: narrow(1.4), rss: narrow(1), peers: {} } } }
  const table = targetsTable([{ subject: 'http', node: 22, figures }])
  expect(table).toContain(
    '| Express, 300 B: CPU hand-written ÷ ours | at least 1.35 | 22 | 1.40 (1.37 to 1.43) | met |',
  )
  expect(table).not.toContain('2 KB')
  expect(table).toContain('2 targets: 2 met, 0 missed, 0 undecided, 0 out of reach, 0 to be measured again')
})

it("draws each bar's interval, and no undecided bars", () => {
  const bars = [
    { variant: 'ackhook', cpu: narrow(1.1) },
    { variant: 'octokit', cpu: wide(0.8) },
  ]
  const image = drawHttpChart([{ framework: 'node:http', bars }])
  expect(image).toContain('ackhook')
  expect(image).toContain('1.10')
  expect(image).not.toContain('octokit')
  expect(image.match(/<path d=/g)).toHaveLength(1)
})

it('gives no verdict on figures that are older than the code that they describe', () => {
  const figures = { express: { 300: { cpu: narrow(1.4), rss: narrow(1), peers: {} } } }
  const table = targetsTable([{ subject: 'http', node: 22, figures, age: 'changed since' }])
  expect(table).toContain('1.40 (1.37 to 1.43) | to be measured again |')
  expect(table).toContain('2 targets: 0 met, 0 missed, 0 undecided, 0 out of reach, 2 to be measured again')
})

it('calls figures old if their code has changed since, or was never committed', () => {
  const asked: string[] = []
  const changedOn = (date: string) => (commit: string, paths: readonly string[]) => {
    asked.push(commit, ...paths)
    return date
  }
  const fastify = { subject: 'http', framework: 'fastify', commit: '0123abcd' }
  expect(ageOf(fastify, changedOn('2026-11-28'))).toContain('last on 2026-11-28')
  expect(ageOf(fastify, changedOn(''))).toBeUndefined()
  expect(asked).toEqual(expect.arrayContaining(['0123abcd', 'packages/core/src', 'packages/fastify/src']))
  expect(asked).not.toContain('packages/hono/src')
  expect(ageOf({ ...fastify, commit: '0123abcd+' }, changedOn(''))).toContain('uncommitted')
  expect(ageOf({ subject: 'http' }, changedOn(''))).toContain('unknown')
})

it('names the commit of a run whose earlier subjects have written their results', () => {
  const written = ' M bench/RESULTS.md\n M bench/results.json'
  expect(measuredCommit(written)).toBe(measuredCommit(''))
  expect(measuredCommit(`${written}\n M packages/core/src/index.ts`)).toBe(`${measuredCommit('')}+`)
})

it('knows each subject that there is a file for', () => {
  const files = readdirSync(`${ROOT}bench/subjects`).filter(name => name.endsWith('.mjs'))
  expect(files.map(name => name.replace('.mjs', '')).sort()).toEqual([...SUBJECTS].sort())
})

// Git says of a path that does not exist that it has not changed: figures would never become old.
it.each(SUBJECTS)('finds the code that the figures of %s describe', subject => {
  const paths = codeOf({ subject, framework: 'hono' }).map(path => path.replace(':(exclude)', ''))
  const isOptional = (path: string) => paths.includes(`${path}.mjs`)
  expect(paths.filter(path => !isOptional(path) && !existsSync(ROOT + path))).toEqual([])
  expect(paths).toContain(`bench/subjects/${subject}.mjs`)
})

it('draws no bars without figures of the present code', () => {
  expect(drawHttpChart([])).toContain('npm run bench measures it again')
  expect(drawHttpChart([])).not.toContain('<rect')
})

import { expect, it } from 'vitest'
import { drawHttpChart } from '../../bench/lib/chart.mjs'
import { judge, targetsTable } from '../../bench/targets.mjs'

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
    300: { peers: { 'stripe verifyHeader': narrow(1.8) }, bounds: { 'stripe verifyHeader': narrow(1.9) } },
  }
  const figures = { alone }
  expect(targetsTable([{ subject: 'verify', node: 20, figures }])).toContain(
    '; native calls alone 1.90 | out of reach |',
  )
})

it('judges a figure without an interval by its value', () => {
  expect(judge({ measured: 117, most: 120 })).toBe('met')
  expect(judge({ measured: 121, most: 120 })).toBe('missed')
})

it('has rows for measured targets only', () => {
  const figures = { express: { 300: { cpu: narrow(1.3), rss: narrow(1), peers: {} } } }
  const table = targetsTable([{ subject: 'http', node: 22, figures }])
  expect(table).toContain(
    '| Express, 300 B: CPU hand-written ÷ ours | at least 1.2 | 22 | 1.30 (1.27 to 1.33) | met |',
  )
  expect(table).not.toContain('2 KB')
  expect(table).toContain('2 targets: 2 met, 0 missed, 0 undecided, 0 out of reach')
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

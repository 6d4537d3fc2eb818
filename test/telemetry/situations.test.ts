import { describe, expect, it } from 'vitest'
import { inFull } from '../support/in-full.ts'
import { type Firing, firings } from './promtool.ts'
import { ALONE, LONG, SEEN, type Situation, UNSEEN } from './situations.ts'
import { world } from './world.ts'

const BRIEF =
  /^(?:every handler fails at five events a minute|one customer|four attempts|Redis restarts .*five events a second)/

// One job each: promtool takes as long for many as for a few.
const TOGETHER = inFull(
  [...SEEN, ...UNSEEN],
  SEEN.filter(({ name }) => BRIEF.test(name)),
).map((one, at) => ({ ...one, job: `job${at}` }))

describe('the rules tell of', () => {
  const found = new Map<string, Firing[]>()

  it('situations in one Prometheus', () => {
    const series = Object.assign({}, ...TOGETHER.map(({ happens, job }) => world({ ...happens, job })))
    for (const one of firings(series)) found.set(one.job, [...(found.get(one.job) ?? []), one])
    if (process.env['SHOW'])
      for (const { name, job } of TOGETHER) console.log(name, JSON.stringify(found.get(job)))
  }, 300_000)

  it.each(TOGETHER.map(one => [one.name, one] as const))('%s', (_, situation) => {
    check(situation, found.get(situation.job) ?? [])
  })

  it.each(inFull([...ALONE, ...LONG], []).map(one => [one.name, one] as const))(
    '%s, alone',
    (_, situation) => check(situation, firings(world(situation.happens), situation.happens.stepS)),
    300_000,
  )
})

function check({ fires = {}, stillAt, overAt }: Situation, found: readonly Firing[]): void {
  expect([...new Set(found.map(({ name }) => name))].sort()).toEqual(Object.keys(fires).sort())
  for (const [name, [earliest, latest]] of Object.entries(fires)) {
    const of = found.filter(one => one.name === name)
    expect(of[0]?.from, `${name} fires from`).toBeGreaterThanOrEqual(earliest)
    expect(of[0]?.from, `${name} fires from`).toBeLessThanOrEqual(latest)
    if (stillAt !== undefined)
      expect(of.at(-1)?.to, `${name} fires until`).toBeGreaterThanOrEqual(stillAt - MINUTE)
    if (overAt !== undefined) expect(of.at(-1)?.to, `${name} fires until`).toBeLessThanOrEqual(overAt)
  }
}

const MINUTE = 60

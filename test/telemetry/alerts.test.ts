import { describe, expect, it } from 'vitest'
import { inFull } from '../support/in-full.ts'
import { cleanTime } from './clean-time.ts'
import { FAULTS, type Fault } from './faults.ts'
import {
  ACKNOWLEDGED,
  COUNTERS,
  HANDLED,
  HEALTHY,
  incidents,
  ofTarget,
  QUICKLY_ACKNOWLEDGED,
  stepsIn,
  VERIFIED,
} from './processes.ts'
import { allFirings, checkRules, firstFirings, type Samples, type SeriesByName, STEP_S } from './promtool.ts'

const BEFORE = stepsIn(30)
const DURING = stepsIn(14)

it('are rules that Prometheus accepts', () => {
  expect(checkRules).not.toThrow()
})

describe('an alert', () => {
  it.each(FAULTS.map(fault => [fault.name, fault] as const))('fires in time when %s', (_, fault) => {
    const steps = Array.from({ length: BEFORE + DURING }, (_, step) => step)
    const fires = Object.fromEntries(
      [...firstFirings(seriesOf(fault), steps)].map(([name, step]) => [name, (step - BEFORE) * STEP_S]),
    )
    expect(fires).toEqual(fault.fires)
    if (fault.withinS === undefined) expect(fires).toEqual({})
    else expect(Math.min(...Object.values(fires))).toBeLessThanOrEqual(fault.withinS)
  })
})

it('there are twenty-six faults, of which twenty are told within two minutes', () => {
  expect(FAULTS).toHaveLength(26)
  expect(FAULTS.filter(({ withinS = Number.POSITIVE_INFINITY }) => withinS <= 120)).toHaveLength(20)
})

it.each([
  ['redis_evicts', ['AckhookNotice']],
  // AckhookPaused tells of a pause that lasts.
  ['handling_paused', []],
  // No event is affected.
  ['activity_dropped', []],
  // Somebody has ended a pause: nothing is to be done.
  ['handling_resumed', []],
])('a new process that reports %s before its first scrape fires %j', (code, fires) => {
  const begin = stepsIn(5)
  const series = Object.fromEntries(
    [...COUNTERS, incidents(code), ...Object.keys(HEALTHY)].map(name => [
      name,
      Array.from({ length: begin + stepsIn(2) }, (_, step) => {
        if (step < begin) return undefined
        return HEALTHY[name] ?? Number(name === incidents(code))
      }),
    ]),
  )
  const firings = firstFirings(
    {
      ...ofTarget('a:9464', { up: new Array(begin).fill(1), ackhook_inbox_up: new Array(begin).fill(1) }),
      ...ofTarget('b:9464', series),
    },
    [begin - 1, begin, begin + 2],
  )
  expect([...firings]).toEqual(fires.map(name => [name, begin]))
})

// One week at once takes promtool 5 GB.
it.each(inFull([1, 2, 3, 4, 5, 6, 7], [1]))(
  'no alert fires on day %i of a week without a fault, with deployments, a scanner and a replay',
  day => {
    expect(allFirings(cleanTime({ hours: inFull(24, 2), seed: day }))).toEqual([])
  },
  3_600_000,
)

/** What two processes export before and during a fault. */
function seriesOf(fault: Fault): SeriesByName {
  return { ...ofTarget('a:9464', processOf(fault, true)), ...ofTarget('b:9464', processOf(fault, false)) }
}

function processOf(fault: Fault, isFirst: boolean): Record<string, Samples> {
  const { perMinute, counters = {}, totals = {}, once = {}, gauges = {}, processes } = fault
  const normal: Record<string, number> = {
    [VERIFIED]: perMinute,
    [ACKNOWLEDGED]: perMinute,
    [QUICKLY_ACKNOWLEDGED]: perMinute,
    [HANDLED]: perMinute,
  }
  const sample = (valueAt: (seconds: number) => number | undefined, isUp = false): Samples =>
    Array.from({ length: BEFORE + DURING }, (_, step) => {
      const seconds = (step - BEFORE) * STEP_S
      if (seconds <= 0 || processes === undefined) return valueAt(seconds)
      return isUp && processes === 'hang' ? 0 : undefined
    })
  const series: Record<string, Samples> = {}
  for (const name of [...COUNTERS, HANDLED]) {
    const [before = 0, during = before] = [normal[name], counters[name]]
    series[name] = sample(seconds => {
      const grown = before * Math.min(0, seconds) + during * Math.max(0, seconds)
      const sudden = seconds > 0 && isFirst ? (once[name] ?? 0) : 0
      return Math.floor((before * BEFORE * STEP_S + grown) / 60 / 2) + sudden
    })
  }
  for (const [name, total] of Object.entries(totals))
    series[name] = sample(seconds => (seconds > 0 ? Math.floor(total(seconds) / 2) || undefined : undefined))
  for (const [name, healthy] of Object.entries(HEALTHY)) {
    const during = gauges[name]
    series[name] = sample(
      seconds => (seconds > 0 && during !== undefined ? during(seconds) : healthy),
      name === 'up',
    )
  }
  return series
}

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { requireProgram } from '../support/require-program.ts'

/** Seconds between two scrapes, and between two evaluations of the rules. */
export const STEP_S = 15

const RULES = fileURLToPath(new URL('../../packages/opentelemetry/grafana/alerts.yaml', import.meta.url))

/** Samples of one series, one a scrape. `undefined`: the target is gone, or was not scraped. */
export type Samples = readonly (number | undefined)[]

/** Series by their name and labels, as PromQL writes them. */
export type SeriesByName = Readonly<Record<string, Samples>>

/** Throws if Prometheus does not accept the rules. */
export function checkRules(): void {
  execFileSync(requireProgram('promtool'), ['check', 'rules', RULES], { stdio: 'pipe' })
}

/**
 * Evaluates the rules against series, and returns which alerts fire, by the step at which each is first seen. Looks at
 * the given steps only: an alert that fires in between, and is not over, shows at the next one.
 */
export function firstFirings(series: SeriesByName, steps: readonly number[]): ReadonlyMap<string, number> {
  const firing = evaluate(series, 'group by (alertname) (ALERTS{alertstate="firing"})', steps)
  const first = new Map<string, number>()
  for (const [step, names] of firing) for (const name of names) if (!first.has(name)) first.set(name, step)
  return first
}

/** Returns every alert that fires at any time. */
export function allFirings(series: SeriesByName): readonly string[] {
  const last = Math.max(...Object.values(series).map(samples => samples.length)) - 1
  const range = `${(last + 1) * STEP_S}s`
  const ever = `group by (alertname) (count_over_time(ALERTS{alertstate="firing"}[${range}]))`
  return evaluate(series, ever, [last]).get(last) ?? []
}

/** An alert that fires, with the label that tells its cause, type or error, and since when and until when. */
export interface Firing {
  readonly job: string
  readonly name: string
  /** Seconds since the begin of the samples. */
  readonly from: number
  readonly to: number
}

/** Returns what fires, looking every so many steps. What is over and fires again counts twice. */
export function firings(series: SeriesByName, stepS = STEP_S): readonly Firing[] {
  const count = Math.max(...Object.values(series).map(samples => samples.length))
  const steps = Array.from({ length: count }, (_, step) => step)
  const about = ABOUT.map(label => `"${label}"`).join(',')
  const expr = `label_join(ALERTS{alertstate="firing"}, "about", "", ${about})`
  const found = evaluate(series, `group by (alertname, job, about) (${expr})`, steps, stepS)
  const open = new Map<string, { from: number; to: number }>()
  const all: Firing[] = []
  const end = (name: string): void => {
    const [job = '', alert = ''] = name.split('\n')
    all.push({ job, name: alert, ...open.get(name)! })
    open.delete(name)
  }
  for (const step of steps) {
    const now = found.get(step) ?? []
    for (const name of [...open.keys()]) if (!now.includes(name)) end(name)
    for (const name of now) open.set(name, { from: open.get(name)?.from ?? step * stepS, to: step * stepS })
  }
  for (const name of [...open.keys()]) end(name)
  return all.sort((one, other) => one.from - other.from || (one.name < other.name ? -1 : 1))
}

const ABOUT = ['messaging_destination_name', 'ackhook_cause', 'ackhook_incident', 'error_type']

/** promtool can only compare: it is told to expect nothing, and says what it found instead. */
function evaluate(
  series: SeriesByName,
  expr: string,
  steps: readonly number[],
  stepS = STEP_S,
): Map<number, string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-alerts-'))
  try {
    const file = join(folder, 'test.json')
    const test = {
      interval: `${stepS}s`,
      input_series: Object.entries(series).map(([name, samples]) => ({
        series: name,
        values: textOf(samples),
      })),
      promql_expr_test: steps.map(step => ({ expr, eval_time: `${step * stepS}s`, exp_samples: [] })),
    }
    // JSON is YAML.
    writeFileSync(
      file,
      JSON.stringify({ rule_files: [RULES], evaluation_interval: `${stepS}s`, tests: [test] }),
    )
    const { stdout, stderr } = spawnSync(requireProgram('promtool'), ['test', 'rules', file], {
      encoding: 'utf8',
      maxBuffer: 1e8,
    })
    const found = new Map<number, string[]>()
    for (const [, time = '', got = ''] of `${stdout}${stderr}`.matchAll(
      /time: (\S+),\s+exp: ?nil\s+got: ?(.*)/g,
    ))
      found.set(
        secondsOf(time) / stepS,
        [...got.matchAll(/\{([^}]*)\}/g)].map(([, labels = '']) => nameOf(labels)).sort(),
      )
    if (!/SUCCESS|got:/.test(`${stdout}${stderr}`)) throw new Error(`promtool failed: ${stdout}${stderr}`)
    return found
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** An alert's name, with its job and what it is about if that was asked for. */
function nameOf(labels: string): string {
  const of = (label: string): string => new RegExp(`\\b${label}="([^"]*)"`).exec(labels)?.[1] ?? ''
  const name = `${of('alertname')} ${of('about')}`.trim()
  return of('job') === '' ? name : `${of('job')}\n${name}`
}

/** Writes runs of equal samples as one. */
function textOf(samples: Samples): string {
  const runs: { value: string; count: number }[] = []
  let isGone = true
  for (const sample of samples) {
    // A target that is not scraped any more is marked once, so that no query goes on with its last sample.
    const value = sample === undefined ? (isGone ? '_' : 'stale') : String(sample)
    isGone = sample === undefined
    const last = runs.at(-1)
    if (last?.value === value) last.count++
    else runs.push({ value, count: 1 })
  }
  return runs
    .map(({ value, count }) => {
      if (count === 1) return value
      return value === '_' ? `_x${count}` : `${value}x${count - 1}`
    })
    .join(' ')
}

function secondsOf(time: string): number {
  const units = { d: 86_400, h: 3600, m: 60, s: 1 } as const
  let seconds = 0
  for (const [, count, unit] of time.matchAll(/(\d+)([dhms])/g))
    seconds += Number(count) * units[unit as keyof typeof units]
  return seconds
}

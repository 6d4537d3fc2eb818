import {
  ACKNOWLEDGED,
  COUNTERS,
  HEALTHY,
  incidents,
  ofTarget,
  QUICKLY_ACKNOWLEDGED,
  refusals,
  VERIFIED,
} from './processes.ts'
import { type SeriesByName, STEP_S } from './promtool.ts'

const PODS = 20
const EVENTS_A_SECOND = 5 / 60
const SCANS_A_SECOND = 0.2
const DEPLOYMENT_EVERY_H = 12
/** Seconds from the end of one process in a deployment to that of the next. */
const NEXT_POD_S = 30
/** What a scanner sends is refused for one of these. */
const SCANS = ['signature_missing', 'signature_missing', 'signature_malformed', 'signature_mismatch']

/** One process between two deployments, and what its counters have reached. */
class Pod {
  readonly name: string
  readonly begin: number
  end = Number.POSITIVE_INFINITY
  readonly #steps: number
  readonly #series: Record<string, (number | undefined)[]> = {}
  readonly #counts: Record<string, number> = {}

  constructor(name: string, begin: number, steps: number) {
    this.name = name
    this.begin = begin
    this.#steps = steps
    for (const series of [...COUNTERS, ...Object.keys(HEALTHY)]) this.#series[series] = new Array(steps)
    for (const series of COUNTERS) this.#counts[series] = 0
  }

  count(...names: string[]): void {
    for (const name of names) this.#counts[name] = (this.#counts[name] ?? 0) + 1
  }

  scrape(step: number, gauges: Readonly<Record<string, number>>): void {
    for (const [name, samples] of Object.entries(this.#series))
      samples[step] = this.#counts[name] ?? gauges[name]
  }

  /** The process has ended, and Prometheus does not know yet. */
  failScrape(step: number): void {
    const up = this.#series['up']
    if (up !== undefined && step < this.#steps) up[step] = 0
  }

  get series(): SeriesByName {
    return ofTarget(this.name, this.#series)
  }
}

/**
 * Twenty processes without a fault: a customer of five events a minute beside a scanner, a deployment every twelve hours,
 * a replayed request, an event that waits for its retries for 17 hours, short bursts, and a slow reply in each new process.
 */
export function cleanTime({ hours, seed }: { readonly hours: number; readonly seed: number }): SeriesByName {
  const steps = (hours * 3600) / STEP_S
  const random = randomFrom(seed)
  const pods: Pod[] = []
  const all: Pod[] = []
  const start = (slot: number, step: number): void => {
    const pod = new Pod(`10.0.${all.length >> 8}.${all.length & 255}:9464`, step, steps)
    if (step > 0) pod.count(incidents('handlers_differ'), ACKNOWLEDGED)
    pods[slot] = pod
    all.push(pod)
  }
  for (let slot = 0; slot < PODS; slot++) start(slot, 0)
  const times = (perSecond: number): number => {
    let count = 0
    for (let left = random(); left > Math.exp(-perSecond * STEP_S); left *= random()) count++
    return count
  }
  for (let step = 0; step < steps; step++) {
    const seconds = step * STEP_S
    const sinceDeployment = (seconds + DEPLOYMENT_EVERY_H * 3600 - 3600) % (DEPLOYMENT_EVERY_H * 3600)
    const slot = sinceDeployment / NEXT_POD_S
    if (Number.isInteger(slot) && slot < PODS) {
      const old = pods[slot]
      old?.failScrape(step)
      start(slot, step)
    }
    const any = (): Pod => pods[Math.floor(random() * PODS)] as Pod
    for (let n = times(EVENTS_A_SECOND); n > 0; n--) any().count(VERIFIED, ACKNOWLEDGED, QUICKLY_ACKNOWLEDGED)
    for (let n = times(SCANS_A_SECOND); n > 0; n--)
      any().count(refusals(SCANS[Math.floor(random() * SCANS.length)] as string))
    if (seconds === 5400) any().count(VERIFIED, refusals('timestamp_too_old'))
    // The last delivery that a process of a deployment refuses.
    if (Number.isInteger(slot) && slot < PODS) any().count(refusals('draining'))
    const isBurst = seconds % 7200 < 45
    const gauges = {
      ...HEALTHY,
      ackhook_pending: isBurst ? 200 : 1,
      ackhook_oldest_pending: seconds % (17 * 3600),
      ackhook_oldest_untried: isBurst ? seconds % 7200 : 0,
    }
    for (const pod of pods) pod.scrape(step, gauges)
  }
  return Object.assign({}, ...all.map(({ series }) => series))
}

/** Repeatable random numbers. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

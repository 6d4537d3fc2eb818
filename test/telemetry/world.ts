import { COUNTERS, HEALTHY, incidents, ofTarget, refusals } from './processes.ts'
import { type SeriesByName, STEP_S } from './promtool.ts'

/** Seconds from each failed attempt to the next, in the middle of what is drawn: the defaults of our inboxes. */
export const RETRIES = {
  memory: [0.75, 3, 12, 48],
  sqlite: [3.75, 18.75, 94, 470, 2340],
  bullmq: [7.5, 37.5, 188, 940, 4690],
} as const

/** What happens in a {@link world}, by the seconds since its begin. */
export interface Happenings {
  readonly minutes: number
  /** Seconds between two scrapes. Default 15. */
  readonly stepS?: number
  /** Genuine events a minute. */
  readonly rate: (seconds: number) => number
  /** Requests a minute of a scanner. */
  readonly scans?: (seconds: number) => number
  /** For what a scanner is refused, in turn. */
  readonly scanCodes?: readonly string[]
  /** For what a genuine delivery is refused. */
  readonly refusal?: (seconds: number) => string | undefined
  readonly types?: readonly string[]
  readonly retries?: readonly number[]
  /** Whether an attempt fails. */
  readonly fails?: (attempt: {
    readonly seconds: number
    readonly type: string
    /** Number of the event: a stable property of it, as its customer is. */
    readonly event: number
    readonly random: () => number
  }) => boolean
  /** How long a failing attempt takes. */
  readonly failsAfterS?: number
  /** Incidents and other counters that grow by one. */
  readonly once?: readonly { readonly seconds: number; readonly counter: string }[]
  readonly gauges?: (seconds: number) => Readonly<Record<string, number | undefined>>
  /** Begin and end of each process. Default: two, for ever. */
  readonly processes?: readonly { readonly job?: string; readonly from?: number; readonly to?: number }[]
  readonly seed?: number
  /** Job of the processes that have none of their own. */
  readonly job?: string
}

interface Process {
  readonly name: string
  readonly job: string
  readonly from: number
  readonly to: number
  readonly counts: Map<string, number>
  readonly series: Map<string, (number | undefined)[]>
}

const VERIFIED = 'ackhook_verified_total'
const ended = (type: string): string =>
  `messaging_process_duration_count{messaging_destination_name="${type}"}`
const failed = (type: string): string =>
  `messaging_process_duration_count{messaging_destination_name="${type}",error_type="Error"}`

/** What Prometheus sees of processes that receive and handle events, with each event and each of its attempts. */
export function world(happenings: Happenings): SeriesByName {
  const random = randomFrom(happenings.seed ?? 1)
  const { stepS = STEP_S, job: defaultJob = 'webhooks' } = happenings
  const steps = (happenings.minutes * 60) / stepS
  const processes = (happenings.processes ?? [{}, {}]).map(
    ({ job = defaultJob, from = 0, to = Number.POSITIVE_INFINITY }, at): Process => ({
      ...{ job, from, to, name: `10.0.0.${at}:9464` },
      counts: new Map(COUNTERS.map(name => [name, 0])),
      series: new Map(),
    }),
  )
  const attempts = new Attempts(happenings, random)
  let events = 0
  let scans = 0
  for (let step = 0; step < steps; step++) {
    const [from, seconds] = [(step - 1) * stepS, step * stepS]
    const alive = processes.filter(one => one.from <= seconds && seconds < one.to)
    const count = (...names: string[]): void => {
      const counts = alive[Math.floor(random() * alive.length)]?.counts
      for (const name of names) counts?.set(name, (counts.get(name) ?? 0) + 1)
    }
    for (let n = arrivals((happenings.rate(seconds) * stepS) / 60, random); n > 0; n--) {
      const at = from + random() * stepS
      const code = happenings.refusal?.(at)
      const type = happenings.types?.[events % happenings.types.length] ?? 'conversation.resolved'
      if (code === undefined) attempts.begin({ seconds: at, type, event: events })
      count(...(code === undefined ? acknowledged(type) : refused(code)))
      events++
    }
    const codes = happenings.scanCodes ?? SCANS
    for (let n = arrivals(((happenings.scans?.(seconds) ?? 0) * stepS) / 60, random); n > 0; n--)
      count(refusals(codes[scans++ % codes.length] as string))
    for (const name of attempts.until(seconds)) count(name)
    for (const one of happenings.once ?? [])
      if (from < one.seconds && one.seconds <= seconds) count(one.counter)
    for (const one of alive)
      scrape(one, { step, steps, gauges: { ...HEALTHY, ...happenings.gauges?.(seconds) } })
  }
  return Object.assign(
    {},
    ...processes.map(({ name, job, series }) => ofTarget(name, Object.fromEntries(series), job)),
  )
}

const SCANS = ['signature_missing', 'signature_missing', 'signature_malformed', 'signature_mismatch']

function acknowledged(type: string): string[] {
  const labels = `messaging_destination_name="${type}"`
  return [
    VERIFIED,
    `ackhook_acknowledgement_duration_count{${labels}}`,
    `ackhook_acknowledgement_duration_bucket{${labels},le="1"}`,
  ]
}

function refused(code: string): string[] {
  const isProven = !/^(?:signature|secret)/.test(code)
  const isOutage = code === 'inbox_unavailable'
  return [refusals(code), ...(isProven ? [VERIFIED] : []), ...(isOutage ? [incidents('store_down')] : [])]
}

function scrape(
  { counts, series }: Process,
  {
    step,
    steps,
    gauges,
  }: { step: number; steps: number; gauges: Readonly<Record<string, number | undefined>> },
): void {
  for (const [name, value] of [...counts, ...Object.entries(gauges)]) {
    const samples = series.get(name) ?? new Array(steps)
    samples[step] = value
    series.set(name, samples)
  }
}

interface Planned {
  readonly seconds: number
  readonly type: string
  readonly event: number
  /** From 0. */
  readonly number: number
}

/** The attempts at all events, each with its time. */
class Attempts {
  readonly #happenings: Happenings
  readonly #random: () => number
  #planned: Planned[] = []

  constructor(happenings: Happenings, random: () => number) {
    this.#happenings = happenings
    this.#random = random
  }

  begin(event: Omit<Planned, 'number'>): void {
    this.#planned.push({ ...event, number: 0 })
  }

  /** Returns the counters of the attempts that have ended by then, and plans those that follow. */
  *until(seconds: number): Iterable<string> {
    const { fails = () => false, failsAfterS = 0, retries = RETRIES.memory } = this.#happenings
    const isDue = (one: Planned): boolean => one.seconds + failsAfterS <= seconds
    const due = this.#planned.filter(isDue)
    this.#planned = this.#planned.filter(one => !isDue(one))
    for (let one = due.shift(); one !== undefined; one = due.shift()) {
      if (!fails({ ...one, random: this.#random })) {
        yield ended(one.type)
        continue
      }
      yield failed(one.type)
      const delay = retries[one.number]
      if (delay === undefined) continue
      const next = { ...one, number: one.number + 1, seconds: one.seconds + failsAfterS + delay }
      if (isDue(next)) due.push(next)
      else this.#planned.push(next)
    }
  }
}

/** Arrivals within one step, by Poisson. */
function arrivals(mean: number, random: () => number): number {
  let count = -1
  for (let sum = 0; sum < mean; count++) sum += -Math.log(random())
  return Math.max(0, count)
}

/** Repeatable random numbers, never zero. */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return (state + 1) / 4_294_967_297
  }
}

import type { Samples, SeriesByName } from './promtool.ts'
import { STEP_S } from './promtool.ts'

/** Series of one process, without the labels that Prometheus adds. */
export type Values<T> = Readonly<Record<string, T>>

const REFUSALS: Values<number> = {
  signature_missing: 401,
  signature_malformed: 401,
  signature_mismatch: 401,
  timestamp_too_old: 401,
  timestamp_malformed: 401,
  secret_unknown: 401,
  body_too_large: 413,
  event_invalid: 422,
  capacity_exceeded: 503,
  inbox_unavailable: 503,
  draining: 503,
}
const INCIDENTS = [
  'completion_lost',
  'lease_lost',
  'store_down',
  'store_slow',
  'redis_emptied',
  'redis_evicts',
  'handlers_differ',
  'postgres_snapshot_held',
  'activity_dropped',
]
const CAUSES = ['retention', 'erasure', 'capacity', 'no_dead_letters', 'shutdown']
const TYPE = 'messaging_destination_name="conversation.resolved"'

export const VERIFIED = 'ackhook_verified_total'
export const ACKNOWLEDGED: string = `ackhook_acknowledgement_duration_count{${TYPE}}`
export const QUICKLY_ACKNOWLEDGED: string = `ackhook_acknowledgement_duration_bucket{${TYPE},le="1"}`

/** Attempts that succeeded, and that failed. */
export const HANDLED: string = `messaging_process_duration_count{${TYPE}}`
export const FAILED: string = `messaging_process_duration_count{${TYPE},error_type="Error"}`

export function refusals(code: string): string {
  return `ackhook_rejections_total{error_type="${code}",http_response_status_code="${REFUSALS[code]}"}`
}

export function incidents(code: string): string {
  return `ackhook_incidents_total{ackhook_incident="${code}"}`
}

export function drops(cause: string): string {
  return `ackhook_dropped_total{ackhook_cause="${cause}"}`
}

/** Every counter of a process, which begins at zero. */
export const COUNTERS: readonly string[] = [
  VERIFIED,
  ACKNOWLEDGED,
  QUICKLY_ACKNOWLEDGED,
  ...Object.keys(REFUSALS).map(refusals),
  ...INCIDENTS.map(incidents),
  ...CAUSES.map(drops),
]

/** Gauges of a process in good health. */
export const HEALTHY: Values<number> = {
  up: 1,
  ackhook_inbox_up: 1,
  ackhook_pending: 0,
  ackhook_active: 1,
  ackhook_dead: 0,
  ackhook_oldest_pending: 0,
  ackhook_oldest_untried: 0,
  ackhook_capacity: 10_000,
  ackhook_last_delivery_age: 6,
  ackhook_silent: 0,
  ackhook_paused: 0,
  ackhook_postgres_oldest_snapshot: 1,
  ackhook_postgres_dead_rows: 9000,
}

/** Adds the labels of a target to the series of a process. */
export function ofTarget(instance: string, series: Values<Samples>, job = 'webhooks'): SeriesByName {
  const labels = `job="${job}",instance="${instance}"`
  return Object.fromEntries(
    Object.entries(series).map(([name, samples]) => [
      name.includes('{') ? name.replace('{', `{${labels},`) : `${name}{${labels}}`,
      samples,
    ]),
  )
}

export function stepsIn(minutes: number): number {
  return (minutes * 60) / STEP_S
}

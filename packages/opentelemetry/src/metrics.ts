import type { Observation, RefusalCode } from '@ackhook/core'
import { CODES, isFromSender, isProven } from '@ackhook/core/spi'
import type { Attributes, Meter } from '@opentelemetry/api'
import { ATTRIBUTE } from './attributes.ts'
import { BoundedNames } from './bounded-names.ts'
import type { ErrorTypes } from './error-types.ts'
import type { EventTypes } from './event-types.ts'
import { createInstruments, type Instruments } from './instruments.ts'

type Of<Kind extends Observation['kind']> = Extract<Observation, { kind: Kind }>

export interface MetricsOptions {
  readonly meter: Meter
  readonly types: EventTypes
  readonly errors: ErrorTypes
}

/** Incidents that are reported as zero from the start: the kinds of observations, and the notices of our packages. */
const INCIDENTS: readonly string[] = [
  'lease_lost',
  'completion_lost',
  'failure_lost',
  'store_slow',
  'store_down',
  'activity_dropped',
  'clock_differs',
  'contract_drift',
  'deliveries_resumed',
  'deliveries_silent',
  'events_missed',
  'handlers_differ',
  'ids_evicted',
  'open_failed',
  'redis_emptied',
  'redis_evicts',
  'redis_may_evict',
  'redis_failing_open',
  'redis_not_durable',
  'redis_policy_unknown',
  'postgres_not_durable',
  'postgres_isolation',
  'postgres_snapshot_held',
  'postgres_dead_rows',
]
/** Refusals that are reported as zero from the start, because an alert counts them. */
const COUNTED: readonly RefusalCode[] = [
  'signature_missing',
  'signature_malformed',
  'signature_mismatch',
  'secret_unknown',
  'secret_unavailable',
  'timestamp_too_old',
  'timestamp_too_new',
  'body_too_large',
  'json_invalid',
  'envelope_invalid',
  'event_invalid',
  'schema_unavailable',
  'capacity_exceeded',
  'store_unavailable',
  'inbox_unavailable',
  'internal_error',
]
/** Causes for which acknowledged events were deleted, which are reported as zero from the start. */
const DROPPED: readonly Of<'dropped'>['cause'][] = [
  'retention',
  'erasure',
  'capacity',
  'no_dead_letters',
  'shutdown',
]
/** Limit on the codes of notices, since a third-party inbox may have its own. */
const MAX_INCIDENTS = 50
/** Limit on the sources of ingested events, which the application names. */
const MAX_SOURCES = 20

/** Turns observations into measurements. Omits ids, namespaces and people: each would make a time series. */
export class Metrics {
  readonly #types: EventTypes
  readonly #errors: ErrorTypes
  readonly #incidents = new BoundedNames(MAX_INCIDENTS)
  readonly #sources = new BoundedNames(MAX_SOURCES)
  readonly #instruments: Instruments
  /** Events accepted, by the attributes of their type. */
  readonly #consumed = new Map<Attributes, number>()
  #verified = 0
  /** Milliseconds since the epoch. */
  #lastDeliveryAt: number | undefined

  constructor({ meter, types, errors }: MetricsOptions) {
    this.#types = types
    this.#errors = errors
    this.#instruments = createInstruments(meter)
    const { incidents, rejections, dropped, consumed, verified, lastDelivery } = this.#instruments
    // Rates and increases miss a first value without a zero before it.
    for (const incident of INCIDENTS) incidents.add(0, { [ATTRIBUTE.incident]: incident })
    for (const code of COUNTED) rejections.add(0, rejected(code, CODES[code].status))
    for (const cause of DROPPED) dropped.add(0, { [ATTRIBUTE.cause]: cause })
    consumed.addCallback(result => {
      for (const [attributes, count] of this.#consumed) result.observe(count, attributes)
    })
    verified.addCallback(result => result.observe(this.#verified))
    lastDelivery.addCallback(result => {
      if (this.#lastDeliveryAt === undefined) return
      result.observe(Math.max(0, Date.now() - this.#lastDeliveryAt) / 1000)
    })
  }

  record(observation: Observation): void {
    switch (observation.kind) {
      case 'accepted':
      case 'duplicate':
        this.#recordAcknowledgement(observation)
        return
      case 'rejected':
        this.#recordRejection(observation)
        return
      case 'completed':
      case 'attempt_failed':
      case 'dead_lettered':
        this.#recordAttempt(observation)
        return
      case 'ingested':
        this.#instruments.ingested.add(1, {
          [ATTRIBUTE.source]: this.#sources.of(observation.source),
          [ATTRIBUTE.code]: observation.code,
        })
        return
      case 'secret_matched':
        this.#instruments.secrets.add(1, { [ATTRIBUTE.secret]: observation.secret })
        return
      case 'redriven':
      case 'discarded':
        this.#instruments[observation.kind].add(1, this.#types.of(observation.type).type)
        return
      case 'dropped':
        this.#instruments.dropped.add(observation.dead + observation.waiting, {
          [ATTRIBUTE.cause]: observation.cause,
        })
        return
      case 'lease_lost':
      case 'completion_lost':
      case 'failure_lost':
      case 'store_slow':
      case 'store_down':
        this.#instruments.incidents.add(1, { [ATTRIBUTE.incident]: observation.kind })
        return
      case 'notice':
        this.#instruments.incidents.add(1, { [ATTRIBUTE.incident]: this.#incidentOf(observation.code) })
    }
  }

  #incidentOf(code: string): string {
    return INCIDENTS.includes(code) ? code : this.#incidents.of(code)
  }

  #recordAcknowledgement(observation: Of<'accepted'> | Of<'duplicate'>): void {
    const { acknowledgement, duplicates } = this.#instruments
    const { type, accepted } = this.#types.of(observation.type)
    this.#verified++
    this.#lastDeliveryAt = Date.now()
    acknowledgement.record(observation.durationMs / 1000, type)
    if (observation.kind === 'accepted') this.#consumed.set(accepted, (this.#consumed.get(accepted) ?? 0) + 1)
    else duplicates.add(1, { ...type, [ATTRIBUTE.conflict]: observation.conflict })
  }

  #recordRejection({ code, status, durationMs }: Of<'rejected'>): void {
    const { acknowledgement, rejections } = this.#instruments
    acknowledgement.record(durationMs / 1000, { [ATTRIBUTE.errorType]: code })
    rejections.add(1, rejected(code, status))
    if (isProven(code)) this.#verified++
    if (isFromSender(code)) this.#lastDeliveryAt = Date.now()
  }

  #recordAttempt(observation: Of<'completed'> | Of<'attempt_failed'> | Of<'dead_lettered'>): void {
    const { handling, lag, deadLettered } = this.#instruments
    const { type, processed } = this.#types.of(observation.type)
    const seconds = observation.durationMs / 1000
    if (observation.kind === 'completed') {
      handling.record(seconds, processed)
      // The platform's clock may be ahead of ours by more than the event took.
      if (observation.lagMs !== undefined) lag.record(Math.max(0, observation.lagMs) / 1000, type)
      return
    }
    const failed: Attributes = { [ATTRIBUTE.errorType]: this.#errors.of(observation.error) }
    handling.record(seconds, { ...processed, ...failed })
    if (observation.kind === 'dead_lettered') deadLettered.add(1, { ...type, ...failed })
  }
}

function rejected(code: RefusalCode, status: number): Attributes {
  return { [ATTRIBUTE.errorType]: code, [ATTRIBUTE.status]: status }
}

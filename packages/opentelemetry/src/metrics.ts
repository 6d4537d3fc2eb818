import type { Observation } from '@ackhook/core'
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

const INCIDENTS = ['lease_lost', 'completion_lost', 'store_slow', 'store_down']
/** Limit on the codes of notices, since a third-party inbox may have its own. */
const MAX_INCIDENTS = 50

/** Turns observations into measurements. Omits ids, namespaces and people: each would make a time series. */
export class Metrics {
  readonly #types: EventTypes
  readonly #errors: ErrorTypes
  readonly #incidents = new BoundedNames(MAX_INCIDENTS)
  readonly #instruments: Instruments
  /** Events accepted, by the attributes of their type. */
  readonly #consumed = new Map<Attributes, number>()

  constructor({ meter, types, errors }: MetricsOptions) {
    this.#types = types
    this.#errors = errors
    this.#instruments = createInstruments(meter)
    // Rates and increases miss a first value without a zero before it.
    for (const incident of INCIDENTS) this.#instruments.incidents.add(0, { [ATTRIBUTE.incident]: incident })
    this.#instruments.consumed.addCallback(result => {
      for (const [attributes, count] of this.#consumed) result.observe(count, attributes)
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
      case 'redriven':
      case 'discarded':
        this.#instruments[observation.kind].add(1, this.#types.of(observation.type).type)
        return
      case 'lease_lost':
      case 'completion_lost':
      case 'store_slow':
      case 'store_down':
        this.#instruments.incidents.add(1, { [ATTRIBUTE.incident]: observation.kind })
        return
      case 'notice':
        this.#instruments.incidents.add(1, { [ATTRIBUTE.incident]: this.#incidents.of(observation.code) })
    }
  }

  #recordAcknowledgement(observation: Of<'accepted'> | Of<'duplicate'>): void {
    const { acknowledgement, duplicates } = this.#instruments
    const { type, accepted } = this.#types.of(observation.type)
    acknowledgement.record(observation.durationMs / 1000, type)
    if (observation.kind === 'accepted') this.#consumed.set(accepted, (this.#consumed.get(accepted) ?? 0) + 1)
    else duplicates.add(1, { ...type, [ATTRIBUTE.conflict]: observation.conflict })
  }

  #recordRejection({ code, status, durationMs }: Of<'rejected'>): void {
    const { acknowledgement, rejections } = this.#instruments
    acknowledgement.record(durationMs / 1000, { [ATTRIBUTE.errorType]: code })
    rejections.add(1, { [ATTRIBUTE.errorType]: code, [ATTRIBUTE.status]: status })
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

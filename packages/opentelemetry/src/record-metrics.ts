import type { Observation } from '@ackhook/core'
import { ATTRIBUTE, operationAttributes } from './attributes.ts'
import { errorType } from './error-type.ts'
import type { Instruments } from './instruments.ts'

type Of<Kind extends Observation['kind']> = Extract<Observation, { kind: Kind }>

/** One observation as measurements. Ids, namespaces and people stay out: they would make a time series each. */
export function recordMetrics(observation: Observation, instruments: Instruments): void {
  switch (observation.kind) {
    case 'accepted':
    case 'duplicate':
      recordAcknowledgement(observation, instruments)
      return
    case 'rejected':
      recordRejection(observation, instruments)
      return
    case 'completed':
    case 'attempt_failed':
    case 'dead_lettered':
      recordAttempt(observation, instruments)
      return
    case 'redriven':
    case 'discarded':
      instruments[observation.kind].add(1, { [ATTRIBUTE.destination]: observation.type })
      return
    case 'lease_lost':
    case 'completion_lost':
    case 'store_slow':
    case 'store_down':
      instruments.incidents.add(1, { [ATTRIBUTE.incident]: observation.kind })
      return
    case 'notice':
      instruments.incidents.add(1, { [ATTRIBUTE.incident]: observation.code })
  }
}

function recordAcknowledgement(
  observation: Of<'accepted'> | Of<'duplicate'>,
  { acknowledgement, consumed, duplicates }: Instruments,
): void {
  const { type, durationMs } = observation
  acknowledgement.record(durationMs / 1000, operationAttributes('receive', type))
  if (observation.kind === 'accepted') consumed.add(1, operationAttributes('receive', type))
  else duplicates.add(1, { [ATTRIBUTE.destination]: type, [ATTRIBUTE.conflict]: observation.conflict })
}

function recordRejection(
  { code, status, durationMs }: Of<'rejected'>,
  { acknowledgement, rejections }: Instruments,
): void {
  const attributes = operationAttributes('receive')
  attributes[ATTRIBUTE.errorType] = code
  acknowledgement.record(durationMs / 1000, attributes)
  rejections.add(1, { [ATTRIBUTE.errorType]: code, [ATTRIBUTE.status]: status })
}

function recordAttempt(
  observation: Of<'completed'> | Of<'attempt_failed'> | Of<'dead_lettered'>,
  { handling, lag, deadLettered }: Instruments,
): void {
  const { kind, type, durationMs } = observation
  const attributes = operationAttributes('process', type)
  if (kind !== 'completed') attributes[ATTRIBUTE.errorType] = errorType(observation.error)
  handling.record(durationMs / 1000, attributes)
  if (kind === 'completed' && observation.lagMs !== undefined) {
    // The clock of the platform may be ahead of ours by more than the event took.
    lag.record(Math.max(0, observation.lagMs) / 1000, { [ATTRIBUTE.destination]: type })
  }
  if (kind === 'dead_lettered') {
    const error = errorType(observation.error)
    deadLettered.add(1, { [ATTRIBUTE.destination]: type, [ATTRIBUTE.errorType]: error })
  }
}

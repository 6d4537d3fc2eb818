import type { Observation } from '@ackhook/core'
import { ATTRIBUTE, operationAttributes } from './attributes.ts'
import { errorType } from './error-type.ts'
import type { Instruments } from './instruments.ts'

/** One observation as measurements. Ids and namespaces stay out: they would make a time series each. */
export function recordMetrics(observation: Observation, instruments: Instruments): void {
  switch (observation.kind) {
    case 'accepted':
      acknowledged(observation.type, observation.durationMs, instruments)
      instruments.consumed.add(1, operationAttributes('receive', observation.type))
      return
    case 'duplicate':
      acknowledged(observation.type, observation.durationMs, instruments)
      instruments.duplicates.add(1, {
        [ATTRIBUTE.destination]: observation.type,
        [ATTRIBUTE.conflict]: observation.conflict,
      })
      return
    case 'rejected': {
      const { code, status, durationMs } = observation
      const attributes = operationAttributes('receive')
      attributes[ATTRIBUTE.errorType] = code
      instruments.acknowledgement.record(durationMs / 1000, attributes)
      instruments.rejections.add(1, { [ATTRIBUTE.errorType]: code, [ATTRIBUTE.status]: status })
      return
    }
    case 'completed':
      handled(observation.type, observation.durationMs, instruments)
      if (observation.lagMs !== undefined) {
        // Two clocks: the platform's may be ahead of ours by more than the event took.
        const lag = Math.max(0, observation.lagMs) / 1000
        instruments.lag.record(lag, { [ATTRIBUTE.destination]: observation.type })
      }
      return
    case 'attempt_failed':
      handled(observation.type, observation.durationMs, instruments, observation.error)
      return
    case 'dead_lettered':
      handled(observation.type, observation.durationMs, instruments, observation.error)
      instruments.deadLettered.add(1, {
        [ATTRIBUTE.destination]: observation.type,
        [ATTRIBUTE.errorType]: errorType(observation.error),
      })
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

function acknowledged(type: string, durationMs: number, { acknowledgement }: Instruments): void {
  acknowledgement.record(durationMs / 1000, operationAttributes('receive', type))
}

function handled(type: string, durationMs: number, { handling }: Instruments, ...failed: unknown[]): void {
  const attributes = operationAttributes('process', type)
  if (failed.length > 0) attributes[ATTRIBUTE.errorType] = errorType(failed[0])
  handling.record(durationMs / 1000, attributes)
}

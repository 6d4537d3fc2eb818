import type { Logger } from './logger.ts'
import type { Observation } from './observation.ts'
import { onceAMinute } from './once-a-minute.ts'

/**
 * Logs what an inbox or its store failed to do. As an error, unlike a 503: where a process only works, no sender hears
 * of it, and nothing is handled until somebody looks.
 */
export function createStoreLog(logger: Logger): (observation: Observation) => void {
  const sayNow = onceAMinute()
  return observation => {
    if (observation.kind !== 'store_down') return
    const { kind: code, operation, error: err } = observation
    const more = sayNow(operation)
    if (more === undefined) return
    logger.error(
      { code, operation, err },
      `The inbox or its store failed in '${operation}'${more}. Until it works, deliveries may be refused, and events wait or run again; none that it holds is lost.`,
    )
  }
}

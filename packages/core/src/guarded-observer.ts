import type { Logger } from './logger.ts'
import type { Observation, Observer } from './observation.ts'

/** An observer is a guest: what it throws must neither change a reply nor stop a handler. */
export function guardObserver(observe: Observer, logger: Logger): Observer {
  return (observation: Observation) => {
    try {
      observe(observation)
    } catch (err) {
      logger.error({ err, kind: observation.kind }, 'The option observe threw.')
    }
  }
}

import { CODES } from '../errors/codes.ts'
import { DOCS } from '../errors/errors.ts'
import type { Refusal } from '../errors/refusal.ts'
import { onceAMinute } from '../lib/once-a-minute.ts'
import type { Logger } from './logger.ts'
import type { Observation } from './observation.ts'

/** Logs why requests were refused: a wrong secret must be seen, and a flood of forgeries must not fill a disk. */
export function createRefusalLog(logger: Logger): (refusal: Refusal) => void {
  const shouldReport = onceAMinute()
  return ({ code, detail, cause }) => {
    const more = shouldReport(code)
    if (more === undefined) return
    const { status, message } = CODES[code]
    const reason = detail === undefined ? message : `${detail}.`
    const level = status === 405 ? 'info' : status >= 500 && status !== 503 ? 'error' : 'warn'
    logger[level](
      { code, status, ...(cause !== undefined && { err: cause }) },
      `Webhook answered ${status} ${code}${more}: ${reason} See ${DOCS}errors.md#refused`,
    )
  }
}

/**
 * Logs what an inbox or its store failed to do. As an error, unlike a 503: where a process only works, no sender
 * notices, and nothing is handled until someone does.
 */
export function createStoreLog(logger: Logger): (observation: Observation) => void {
  const shouldReport = onceAMinute()
  return observation => {
    if (observation.kind !== 'store_down') return
    const { kind: code, operation, error: err } = observation
    const more = shouldReport(operation)
    if (more === undefined) return
    logger.error(
      { code, operation, err },
      `The inbox or its store failed in '${operation}'${more}. Until it works, deliveries may be refused, and events wait or run again; none that it holds is lost.`,
    )
  }
}

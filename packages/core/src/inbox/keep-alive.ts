import { onceAMinute } from '../lib/once-a-minute.ts'
import type { Logger } from '../observe/logger.ts'
import type { Delivery } from './delivery.ts'

/** A platform that refuses once refuses each request: one report for each receiver, by its logger. */
const reports = new WeakMap<Logger, (reason: string, err: unknown) => void>()

/**
 * Lets `work` continue after the reply, on a platform that would otherwise end it with its request. If the platform
 * refuses, the work continues regardless: nothing else would do it.
 */
export function keepAlive({ waitUntil }: Delivery, work: Promise<unknown>, logger: Logger): void {
  try {
    waitUntil?.(work)
  } catch (err) {
    const report = reports.get(logger) ?? createReport(logger)
    report('', err)
  }
}

function createReport(logger: Logger): (reason: string, err: unknown) => void {
  const report = onceAMinute((err: unknown, more) =>
    logger.warn(
      { err },
      `waitUntil failed${more}: work that continues after a reply may end with its request.`,
    ),
  )
  reports.set(logger, report)
  return report
}

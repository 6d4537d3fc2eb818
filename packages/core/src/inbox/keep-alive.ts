import type { Logger } from '../observe/logger.ts'
import type { Delivery } from './delivery.ts'

/**
 * Lets `work` continue after the reply, on a platform that would otherwise end it with its request. If the platform
 * refuses, the work continues regardless: nothing else would do it.
 */
export function keepAlive({ waitUntil }: Delivery, work: Promise<unknown>, logger: Logger): void {
  try {
    waitUntil?.(work)
  } catch (err) {
    logger.warn({ err }, 'waitUntil failed: work that continues after a reply may end with its request.')
  }
}

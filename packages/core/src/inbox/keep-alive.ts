import type { Logger } from '../observe/logger.ts'
import type { Delivery } from './delivery.ts'

/**
 * Where a platform ends what a request has begun, lets `work` go on after its reply. A platform that refuses may end the
 * work; but it has begun, and nobody else would do it.
 */
export function keepAlive({ waitUntil }: Delivery, work: Promise<unknown>, logger: Logger): void {
  try {
    waitUntil?.(work)
  } catch (err) {
    logger.warn({ err }, 'waitUntil failed: what goes on after a reply may end with its request.')
  }
}

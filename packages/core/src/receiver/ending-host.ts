import { platform } from '#platform'
import type { Logger } from '../observe/logger.ts'

let hasWarned = false

/** Warns, once, of a host that kills this process within the time that its shutdown may take: then nothing can be logged. */
export function warnOfEndingHost(logger: Logger, allowedMs: number): void {
  const host = platform.endingHost()
  if (hasWarned || host?.limitMs === undefined || host.limitMs > allowedMs) return
  hasWarned = true
  logger.warn(
    { code: 'drain_limited', limitMs: host.limitMs, allowedMs },
    `This process is killed ${host.limitMs / 1000} s after its signal, and its shutdown may take ${allowedMs / 1000} s. ${host.fix}.`,
  )
}

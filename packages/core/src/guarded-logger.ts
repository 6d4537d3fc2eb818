import type { Logger } from './logger.ts'
import { isPromise } from './maybe-promise.ts'

/** A logger is a guest like an observer: when it throws, at once or later, the line is lost and nothing else. */
export function guardLogger(logger: Logger): Logger {
  const guarded = (level: keyof Logger) => (fields: object, message: string) => {
    try {
      const written: unknown = logger[level](fields, message)
      if (isPromise(written)) Promise.resolve(written).catch(() => {})
    } catch {}
  }
  return { info: guarded('info'), warn: guarded('warn'), error: guarded('error') }
}

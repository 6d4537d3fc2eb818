import type { Logger } from './logger.ts'

/** A logger is a guest like an observer: when it throws, the line is lost and nothing else. */
export function guardLogger(logger: Logger): Logger {
  const guarded = (level: keyof Logger) => (fields: object, message: string) => {
    try {
      logger[level](fields, message)
    } catch {}
  }
  return { info: guarded('info'), warn: guarded('warn'), error: guarded('error') }
}

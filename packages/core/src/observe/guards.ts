import { isPromise } from '../lib/maybe-promise.ts'
import { onceAMinute } from '../lib/once-a-minute.ts'
import { printable } from '../lib/printable.ts'
import type { Logger } from './logger.ts'
import type { Observation, Observer } from './observation.ts'
import { reduceError } from './reduce-error.ts'

/**
 * Wraps a logger. One that throws or rejects loses its line and affects nothing else. It gets errors without other
 * libraries' properties, and a sender's texts without control characters.
 */
export function guardLogger(logger: Logger): Logger {
  const guarded = (level: keyof Logger) => (fields: object, message: string) => {
    try {
      const written: unknown = logger[level](toSafeFields(fields), printable(message))
      if (isPromise(written)) Promise.resolve(written).catch(() => {})
    } catch {}
  }
  return { info: guarded('info'), warn: guarded('warn'), error: guarded('error') }
}

/**
 * Wraps an observer: its errors must neither change a reply nor stop a handler. An `async` one is not awaited, but its
 * rejection is caught: unhandled, it would end the process.
 */
export function guardObserver(observe: Observer, logger: Logger): Observer {
  const report = onceAMinute((err: unknown, more, _, kind) =>
    logger.error({ err, kind }, `An observer threw${more}.`),
  )
  return (observation: Observation) => {
    try {
      const result: unknown = observe(observation)
      if (isPromise(result)) Promise.resolve(result).catch(err => report(observation.kind, err))
    } catch (err) {
      report(observation.kind, err)
    }
  }
}

/**
 * Wraps a clock. If it throws or returns no time, records get the machine's time: a broken clock must not undo what has
 * happened.
 */
export function guardClock(clock: () => number): () => number {
  if (clock === Date.now) return clock
  return () => {
    try {
      const now = clock()
      if (Number.isFinite(now)) return now
    } catch {}
    return Date.now()
  }
}

function toSafeFields(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      name === 'err' ? reduceError(value) : safeValue(value),
    ]),
  )
}

function safeValue(value: unknown): unknown {
  if (typeof value === 'string') return printable(value)
  return Array.isArray(value) ? value.map(safeValue) : value
}

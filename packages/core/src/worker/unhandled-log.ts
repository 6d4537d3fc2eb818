import { type EventSchemas, KNOWN_TYPES } from '../events/event-types.ts'
import { nearest } from '../lib/nearest.ts'
import { onceAMinute } from '../lib/once-a-minute.ts'
import type { Logger } from '../observe/logger.ts'
import type { HandlerRegistry } from './handler-registry.ts'

/**
 * Maximum number of types reported separately: a sender may invent any number. All further types share one line a
 * minute.
 */
const MOST_TYPES = 50

export interface UnhandledLogParts {
  readonly logger: Logger
  readonly handlers: HandlerRegistry
  /** Schemas, whose types are known even if only other processes handle them. */
  readonly schemas: EventSchemas
}

/**
 * Logs events that no handler matches, each type once a minute: they are acknowledged like any other, and the type or a
 * handler's pattern may be misspelled.
 */
export function createUnhandledLog(parts: UnhandledLogParts): (id: string, type: string) => void {
  const report = onceAMinute<{ event: string; type: string }>(({ event, type }, more) => {
    parts.logger.warn(
      { code: 'unhandled', event, type },
      `No handler matches '${type}': event ${event} was completed without one${more}.${suggestionFor(type, parts)}`,
    )
  }, MOST_TYPES)
  return (event, type) => report(type, { event, type })
}

/** Warns at start. Processes that only receive have no handlers. */
export function warnWithoutHandlers(logger: Logger, handlers: HandlerRegistry): void {
  if (handlers.patterns().length > 0 || handlers.listeners.onUnhandled.length > 0) return
  logger.warn(
    { code: 'no_handlers' },
    'No handler is registered: every event is acknowledged and completes at once. Call on() before start().',
  )
}

/**
 * Logs patterns that match no known type: events of the type that was meant would complete without the handler. A
 * misspelled one is an error. Of others nothing is known, such as types that the platform has not published.
 */
export function reportUnknownPatterns(logger: Logger, handlers: HandlerRegistry): void {
  const unknown = handlers.unknownPatterns()
  for (const { pattern, meant } of unknown) {
    if (meant === undefined) continue
    logger.error(
      { code: 'type_misspelled', pattern, meant },
      `on('${pattern}') matches no known event: did you mean on('${meant}')? If not, add '${pattern}' to the option events.`,
    )
  }
  const others = unknown.filter(({ meant }) => meant === undefined).map(({ pattern }) => pattern)
  if (others.length === 0) return
  logger.warn(
    { code: 'type_unknown', patterns: others },
    `No known event matches ${others.map(pattern => `on('${pattern}')`).join(', ')}. Check the spelling, and add the types to the option events.`,
  )
}

function suggestionFor(type: string, { handlers, schemas }: UnhandledLogParts): string {
  const patterns = handlers.patterns()
  const known = [...KNOWN_TYPES, ...Object.keys(schemas)]
  const near = known.includes(type) ? undefined : nearest(type, known)
  // The sender's type is the misspelled one if a handler exists for the closest known name.
  if (near !== undefined && patterns.includes(near)) return ` Did you mean '${near}'?`
  for (const meant of [type, `${type.split('.', 1)[0]}.*`]) {
    const registered = nearest(meant, patterns)
    if (registered !== undefined) return ` You have on('${registered}'): did you mean on('${meant}')?`
  }
  return near === undefined ? '' : ` Did you mean '${near}'?`
}

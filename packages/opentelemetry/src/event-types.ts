import type { Attributes } from '@opentelemetry/api'
import { ATTRIBUTE, operationAttributes } from './attributes.ts'
import { BoundedNames, OTHER } from './bounded-names.ts'

/**
 * Attributes and names shared by the telemetry of one event type, made once. Never changed: the SDK may keep the
 * objects.
 */
export interface EventTypeNames {
  readonly acceptSpan: string
  readonly processSpan: string
  /** Attributes for our own metrics. */
  readonly type: Attributes
  readonly accepted: Attributes
  readonly processed: Attributes
}

export interface EventTypesOptions {
  /** Maps an event type to its name in metrics. */
  readonly eventType: ((type: string) => string) | undefined
  readonly limit: number
}

/** Limit on cached raw types, whose number the platform determines. */
const MAX_CACHED = 5000

/** Names event types in metrics and spans, and bounds how many names there are. */
export class EventTypes {
  readonly #eventType: EventTypesOptions['eventType']
  readonly #bounded: BoundedNames
  readonly #other = namesOf(OTHER)
  readonly #byName = new Map<string, EventTypeNames>()
  readonly #byType = new Map<string, EventTypeNames>()

  constructor({ eventType, limit }: EventTypesOptions) {
    this.#eventType = eventType
    this.#bounded = new BoundedNames(limit)
  }

  of(type: string): EventTypeNames {
    const cached = this.#byType.get(type)
    if (cached !== undefined) return cached
    const names = this.#named(this.#bounded.of(this.#map(type)))
    if (this.#byType.size < MAX_CACHED) this.#byType.set(type, names)
    return names
  }

  #map(type: string): string {
    if (this.#eventType === undefined) return type
    try {
      const name: unknown = this.#eventType(type)
      return typeof name === 'string' && name !== '' ? name : OTHER
    } catch {
      // An event without a name of its own still counts.
      return OTHER
    }
  }

  #named(name: string): EventTypeNames {
    if (name === OTHER) return this.#other
    const known = this.#byName.get(name) ?? namesOf(name)
    this.#byName.set(name, known)
    return known
  }
}

function namesOf(name: string): EventTypeNames {
  // The conventions leave out a destination that has no name of low cardinality.
  const suffix = name === OTHER ? '' : ` ${name}`
  return {
    acceptSpan: `accept${suffix}`,
    processSpan: `process${suffix}`,
    type: { [ATTRIBUTE.destination]: name },
    accepted: operationAttributes('accept', name),
    processed: operationAttributes('process', name),
  }
}

import { ConfigurationError, type EventFor, type EventMap } from '@ackhook/core'
import { nearest, refuseUnknownNames } from '@ackhook/core/spi'
import type { Random } from '../lib/seeded-random.ts'
import { checkType } from './check-type.ts'

type DataOf<Type> = Type extends keyof EventMap ? EventMap[Type] : Record<string, unknown>

/** Overrides the defaults. `data` is merged over the default data, one level deep. */
export interface EventOverrides<Type extends string = string> {
  readonly id?: string | undefined
  /** ISO 8601 UTC. Default: now. */
  readonly created_at?: string | undefined
  readonly data?: Partial<DataOf<Type>> | undefined
  readonly [field: string]: unknown
}

/** Sources of an event's time and ids. A test can replace both. */
export interface EventSources {
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: (() => number) | undefined
  /** Numbers from 0 to 1. Default `Math.random`. */
  readonly random?: Random | undefined
}

/**
 * Creates an event as the platform would send it, with its own id and realistic data.
 *
 * Only `conversation.resolved` has been published in full. Other types get empty `data` unless you pass some. Throws
 * `ConfigurationError` if the type is missing, or if a field of `data` is passed outside `data`. `type` in `overrides`
 * may be anything.
 *
 * @example
 * createEvent('conversation.resolved', { data: { resolved_by: 'agent' } })
 */
export function createEvent<const Type extends string>(
  type: Type,
  overrides: EventOverrides<Type> = {},
  sources: EventSources = {},
): EventFor<EventMap, Type> {
  checkType(type, "createEvent('conversation.resolved')")
  refuseUnknownNames(sources, ['clock', 'random'])
  refuseMisspelt(overrides)
  const { clock = Date.now, random = Math.random } = sources
  const { data, ...envelope } = overrides
  const defaults = { id: `evt_${randomName(random)}`, type, created_at: new Date(clock()).toISOString() }
  const sample = DEFAULT_DATA.get(type)?.(random)
  refuseMisplaced(envelope, { ...sample }, { ...data })
  return {
    ...defaults,
    ...envelope,
    ...(envelope.id === undefined && { id: defaults.id }),
    ...(envelope.created_at === undefined && { created_at: defaults.created_at }),
    data: { ...sample, ...data },
  } as unknown as EventFor<EventMap, Type>
}

/** Unknown fields are allowed, but a name that is almost `data` or `created_at` is a misspelling. */
function refuseMisspelt(overrides: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(overrides)) {
    const meant = nearest(name, ['data', 'created_at'])
    if (meant === undefined || name in DEFAULT_ENVELOPE || meant in overrides) continue
    throw new ConfigurationError(
      name,
      `did you mean '${meant}'? If it is a separate field, set ${meant} as well`,
      { page: 'unknown-options' },
    )
  }
}

/** Refuses a `data` field passed next to `data`: the sample's value would stay, and the test would prove nothing. */
function refuseMisplaced(envelope: object, sample: object, data: object): void {
  const name = Object.keys(envelope).find(one => Object.hasOwn(sample, one) && !Object.hasOwn(data, one))
  if (name === undefined) return
  throw new ConfigurationError(
    name,
    `is a field of data: write { data: { ${name} } }. If the envelope also has such a field, set both`,
    { page: 'unknown-options' },
  )
}

/** `meta` and `date` are legitimate fields, though only two letters from `data`. */
const DEFAULT_ENVELOPE = { id: '', type: '', created_at: '', data: {}, meta: {}, date: '' }

/** Sample data for each type of `EventMap` in packages/core/src/events/event-types.ts. */
const DEFAULT_DATA = new Map<string, (random: Random) => Record<string, unknown>>([
  [
    'conversation.resolved',
    random => ({ conversation_id: `cnv_${randomName(random)}`, channel: 'whatsapp', resolved_by: 'ai' }),
  ],
])

const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'
const NAME_LENGTH = 20

/** 100 bits, so that no two events of a test suite share an id. */
function randomName(random: Random): string {
  let name = ''
  for (let i = 0; i < NAME_LENGTH; i++) name += LETTERS[Math.floor(random() * LETTERS.length)]
  return name
}

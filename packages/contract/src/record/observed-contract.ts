import type { EnvelopeFields } from '@ackhook/core'
import { Keep } from '../shape/keep.ts'
import { nameLike } from '../shape/names.ts'
import { Room } from '../shape/room.ts'
import { Shape } from '../shape/shape.ts'
import { PUBLISHED, type RecordedSignature, type Recording, typeOf } from './recording.ts'

/** What recorded deliveries have in common, by type. */
export interface ObservedContract {
  /** Whole events, with the published names of the envelope's fields. Events without a type are at `''`. */
  readonly types: ReadonlyMap<string, Shape>
  readonly signatures: readonly RecordedSignature[]
}

/** Learns from recordings. `fields`: names of the envelope's fields, for recordings that do not say them. */
export function observe(
  recordings: readonly Recording[],
  fields: Partial<EnvelopeFields> = {},
): ObservedContract {
  const types = new Map<string, Shape>()
  const signatures: RecordedSignature[] = []
  const room = new Room()
  for (const { event: arrived, kept, signature, fields: own } of recordings) {
    const event = withPublishedNames(arrived, { ...PUBLISHED, ...own, ...fields })
    const type = typeOf(event, 'type')
    const shape = types.get(type) ?? new Shape()
    types.set(type, shape)
    shape.learn(event, { keyOf: nameLike, room, keep: new Keep(kept, NO_SETS) })
    if (signature !== undefined) signatures.push(signature)
  }
  return { types, signatures }
}

/** The values of the envelope are no sets: an id is only itself. */
const NO_SETS = ['id', 'type', 'created_at']

function withPublishedNames(event: unknown, fields: EnvelopeFields): unknown {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return event
  const names = new Map(Object.entries(fields).map(([field, name]) => [name as string, field]))
  return Object.fromEntries(Object.entries(event).map(([name, value]) => [names.get(name) ?? name, value]))
}

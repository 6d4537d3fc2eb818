import * as v from 'valibot'
import { inLanes } from '../letters/in-lanes.ts'
import { locate } from '../letters/locate.ts'
import { shorten } from '../letters/shorten.ts'
import type { ResolvedDashboard } from '../options/options.ts'
import type { FieldsRequest, FieldValues } from '../protocol/protocol.ts'
import { text, texts } from '../verbs/fields.ts'
import { readObject } from '../verbs/verb.ts'

const MAX_NAME = 200
const MAX_VALUE = 200

/** Reads one field of some bodies, as the page may show it. */
export async function fieldsOf(
  { inbox, bodies, redact }: ResolvedDashboard,
  { keys, name }: FieldsRequest,
): Promise<FieldValues> {
  if (!bodies) return { values: {} }
  const path = name.split('.')
  const values = await inLanes(keys, async key => {
    const { event } = await locate(inbox, key)
    if (event?.body === undefined) return []
    const { id, type, namespace, body } = event
    const value = fieldOf(redact(new TextDecoder().decode(body), { id, type, namespace }), path)
    return value === undefined ? [] : [[key, value] as const]
  })
  return { values: Object.fromEntries(values.flat()) }
}

function fieldOf(text: string, path: readonly string[]): string | undefined {
  try {
    const event: unknown = JSON.parse(text)
    const value = valueAt(Object(event).data, path) ?? valueAt(event, path)
    return value === undefined ? undefined : shorten(String(value), MAX_VALUE)
  } catch {
    // A body that is not JSON has no fields.
    return undefined
  }
}

function valueAt(from: unknown, path: readonly string[]): string | number | boolean | undefined {
  let value = from
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  const isPlain = ['string', 'number', 'boolean'].includes(typeof value)
  return isPlain ? (value as string | number | boolean) : undefined
}

const REQUEST = v.strictObject({
  keys: texts('keys of events', 200),
  name: v.pipe(text('name of a field'), v.maxLength(MAX_NAME, `must have at most ${MAX_NAME} characters`)),
})

/** Reads the body of a request. */
export function readFields(body: unknown): FieldsRequest {
  return readObject(REQUEST, body)
}

import { inLanes } from '../letters/in-lanes.ts'
import { locate } from '../letters/locate.ts'
import type { ResolvedDashboard } from '../options/options.ts'
import { shorten } from '../options/shorten.ts'
import { ApiProblem, type FieldsRequest, type FieldValues } from '../protocol/protocol.ts'
import { parseKeys } from './change-letters.ts'

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

/** Validates the body of a request. Throws a 400 that names the mistake. */
export function parseFields(body: unknown): FieldsRequest {
  const { keys, name } = Object(body) as Partial<Record<string, unknown>>
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME)
    throw new ApiProblem(400, 'invalid', `'name' must have 1 to ${MAX_NAME} characters.`)
  return { keys: parseKeys(keys), name }
}

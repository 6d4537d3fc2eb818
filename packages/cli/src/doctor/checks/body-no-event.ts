import type { Facts } from '../evidence/facts.ts'
import type { Finding } from '../evidence/finding.ts'

/** Finds a valid signature over something other than an event. */
export function bodyNoEvent({ code }: Facts): Finding | undefined {
  if (code === 'json_invalid') {
    return {
      cause: 'body-no-json',
      proven: true,
      text: 'The signature is right, but the body is not JSON. A sender that has the secret signed something other than an event: find out which one.',
    }
  }
  if (code !== 'envelope_invalid') return undefined
  return {
    cause: 'body-no-event',
    proven: true,
    text: 'The signature is right, but the body is not an event: it needs the strings id, type and created_at, and the object data. If the platform has renamed a field, set contract: { fields: { id: ... } }.',
  }
}

import type { Facts } from '../facts.ts'
import type { Finding } from '../finding.ts'

/** The signature is right, and what was signed is no event. */
export function bodyNoEvent({ code }: Facts): Finding | undefined {
  if (code === 'json_invalid') {
    return {
      cause: 'body-no-json',
      proven: true,
      text: 'The signature is right, but the body is not JSON. Whoever has the secret signed something else than an event: look at who sends it.',
    }
  }
  if (code !== 'envelope_invalid') return undefined
  return {
    cause: 'body-no-event',
    proven: true,
    text: 'The signature is right, but the body is no event: it needs the texts id, type and created_at and the object data. If the platform has renamed a field, set contract: { fields: { id: ... } }.',
  }
}

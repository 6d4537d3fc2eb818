import { sign } from '@ackhook/testing'
import type { WireRequest } from './connection.ts'

/** A signed request and its event's id. */
export interface SignedEvent {
  readonly id: string
  readonly request: WireRequest & { readonly headers: readonly (readonly [string, string])[] }
}

interface Secret {
  readonly secret: string
}

let count = 0
const run = Date.now().toString(36)

/** Returns an id that no other event of this process has. */
export function newId(): string {
  return `evt_${run}_${(count++).toString(36)}`
}

/** Returns an envelope's JSON text whose `data.note` is the JSON text `note`, verbatim. */
export function envelope(id: string, note = '"plain"'): string {
  return `{"id":"${id}","type":"conversation.resolved","created_at":"2026-01-01T00:00:00Z","data":{"conversation_id":"cnv_1","channel":"whatsapp","resolved_by":"ai","note":${note}}}`
}

/** Returns a correctly signed request with these bytes. */
export function signedRequest({ secret }: Secret, body: string | Uint8Array): SignedEvent['request'] {
  const signature = sign(body, { secret })
  return {
    body,
    headers: [
      ['Content-Type', 'application/json'],
      ['X-Service-Signature', signature],
    ],
  }
}

export function signedEvent(target: Secret, note?: string): SignedEvent {
  const id = newId()
  return { id, request: signedRequest(target, envelope(id, note)) }
}

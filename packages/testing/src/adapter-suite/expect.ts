import type { WebhookEvent } from '@ackhook/core'
import { until } from '../lib/until.ts'
import type { AdapterTarget } from './target.ts'
import type { WireReply } from './wire/reply-reader.ts'

/** Throws unless the reply has this status and, in its JSON body, this code. */
export function expectReply(reply: WireReply, status: number, code: string): void {
  const { body } = reply
  if (reply.status !== status) throw new Error(`expected ${status} ${code}, got ${reply.status}: ${body}`)
  const type = reply.headers.get('content-type') ?? 'none'
  if (!type.startsWith('application/json')) throw new Error(`expected a JSON reply, got Content-Type ${type}`)
  const got = JSON.parse(body).code
  if (got !== code) throw new Error(`expected the code ${code}, got ${got}`)
}

/** The event, once a handler has received it. */
export function whenHandled(target: AdapterTarget, id: string): Promise<WebhookEvent> {
  return until(() => target.handled().find(event => event.id === id), `a handler receives ${id}`)
}

export function expectNotHandled(target: AdapterTarget, id: string): void {
  if (target.handled().some(event => event.id === id)) throw new Error(`a handler received ${id}`)
}

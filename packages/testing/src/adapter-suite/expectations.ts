import type { WebhookEvent } from '@ackhook/core'
import type { WireReply } from './reply-reader.ts'
import type { AdapterTarget } from './target.ts'

const PATIENCE_MS = 10_000

/** Throws unless the reply has this status and, in its JSON body, this code. */
export function expectReply(reply: WireReply, status: number, code: string): void {
  const { body } = reply
  if (reply.status !== status) throw new Error(`expected ${status} ${code}, got ${reply.status}: ${body}`)
  const type = reply.headers.get('content-type') ?? 'none'
  if (!type.startsWith('application/json')) throw new Error(`expected a JSON reply, got Content-Type ${type}`)
  const got = JSON.parse(body).code
  if (got !== code) throw new Error(`expected the code ${code}, got ${got}`)
}

/** The event, once a handler has been given it. */
export function whenHandled(target: AdapterTarget, id: string): Promise<WebhookEvent> {
  return until(() => target.handled().find(event => event.id === id), `no handler was given ${id}`)
}

export function expectNotHandled(target: AdapterTarget, id: string): void {
  if (target.handled().some(event => event.id === id)) throw new Error(`a handler was given ${id}`)
}

/** Polls until `read` gives something. */
export async function until<T>(read: () => T | undefined, otherwise: string): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const value = read()
    if (value !== undefined) return value
    if (performance.now() > deadline) throw new Error(`${otherwise} within ${PATIENCE_MS} ms`)
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

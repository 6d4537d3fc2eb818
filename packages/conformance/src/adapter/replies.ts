import { until } from '../lib/until.ts'
import type { ServerTarget } from './target.ts'
import { exchange, type WireRequest } from './wire/connection.ts'
import type { WireReply } from './wire/reply-reader.ts'
import { envelope, type SignedEvent, signedRequest } from './wire/signed-event.ts'

/** Throws unless the reply has this status and, in its JSON body, this code. */
export function expectReply(reply: WireReply, status: number, code: string): void {
  const { body } = reply
  if (reply.status !== status) throw new Error(`expected ${status} ${code}, got ${reply.status}: ${body}`)
  const type = reply.headers.get('content-type') ?? 'none'
  if (!type.startsWith('application/json')) throw new Error(`expected a JSON reply, got Content-Type ${type}`)
  const got = codeOf(reply)
  if (got !== code) throw new Error(`expected the code ${code}, got ${got}`)
}

/** Sends the event, with these changes to its request, and waits until it is handled. */
export async function expectAccepted(
  target: ServerTarget,
  event: SignedEvent,
  changes: Partial<WireRequest> = {},
): Promise<void> {
  expectReply(await exchange(target.url, { ...event.request, ...changes }), 202, 'accepted')
  await whenHandled(target, event)
}

/** Resolves once a handler has received the event. For a server tested from outside, a duplicate proves it. */
export async function whenHandled(target: ServerTarget, { id, request }: SignedEvent): Promise<void> {
  const { url, handled } = target
  if (handled !== undefined) {
    await until(() => handled().some(event => event.id === id), `a handler receives ${id}`)
  } else {
    const isDuplicate = async () => codeOf(await exchange(url, request)) === 'duplicate'
    await until(isDuplicate, `a repeated delivery of ${id} is a duplicate`)
  }
}

/** Throws if a handler has received the event. A server tested from outside must still accept the event. */
export async function expectNotHandled(target: ServerTarget, id: string): Promise<void> {
  const { url, handled } = target
  if (handled === undefined) {
    expectReply(await exchange(url, signedRequest(target, envelope(id))), 202, 'accepted')
  } else if (handled().some(event => event.id === id)) {
    throw new Error(`a handler received ${id}`)
  }
}

function codeOf({ body }: WireReply): unknown {
  try {
    return (JSON.parse(body) as { readonly code?: unknown } | null)?.code
  } catch {
    return undefined
  }
}

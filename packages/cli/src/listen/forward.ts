import type { CapturedRequest } from '../delivery/captured-request.ts'
import { headersToSend } from '../delivery/join-headers.ts'

export interface ForwardedReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const TIMEOUT_MS = 30_000
/** Reply headers that the sender may act on. */
const PASSED_BACK = ['content-type', 'retry-after']

/** Forwards the same bytes with the same headers. Returns 502 if there is no reply, so that the sender keeps the event. */
export async function forward(url: string, delivery: CapturedRequest): Promise<ForwardedReply> {
  const hasBody = delivery.method !== 'GET' && delivery.method !== 'HEAD'
  try {
    const reply = await fetch(url, {
      method: delivery.method,
      headers: headersToSend(delivery.headers),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(hasBody && { body: new Uint8Array(delivery.body) }),
    })
    const headers = PASSED_BACK.flatMap(name => {
      const value = reply.headers.get(name)
      return value === null ? [] : [[name, value] as const]
    })
    return {
      status: reply.status,
      headers: Object.fromEntries(headers),
      body: new Uint8Array(await reply.arrayBuffer()),
    }
  } catch {
    const body = JSON.stringify({ code: 'forward_failed', message: `No response from ${new URL(url).host}.` })
    return {
      status: 502,
      headers: { 'content-type': 'application/json' },
      body: new TextEncoder().encode(body),
    }
  }
}

import { type ExchangeLimits, exchange } from '@ackhook/testing/spi'
import type { CapturedRequest } from '../delivery/captured-request.ts'
import { headersToSend } from '../delivery/join-headers.ts'

export interface ForwardedReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Reason why the app did not reply. */
  readonly error?: string
}

const MAX_REPLY_BYTES = 16 * 1024 ** 2
/** Reply headers that the sender may act on, or needs to read the body. */
const PASSED_BACK = ['content-type', 'content-encoding', 'retry-after']

/** Forwards the same bytes with the same headers. Returns 502 if there is no reply, so that the sender keeps the event. */
export async function forward(
  url: string,
  { method, headers, body }: CapturedRequest,
  limits: Pick<ExchangeLimits, 'timeoutMs' | 'signal' | 'insecure'>,
): Promise<ForwardedReply> {
  const request = { method, headers: headersToSend(headers), body: new Uint8Array(body) }
  const reply = await exchange(url, request, { ...limits, maxBodyBytes: MAX_REPLY_BYTES })
  if (!('error' in reply)) {
    const passed = reply.headers.filter(([name]) => PASSED_BACK.includes(name.toLowerCase()))
    return { status: reply.status, headers: Object.fromEntries(passed), body: reply.body }
  }
  const message = `No reply from ${new URL(url).host}: ${reply.error}.`
  return {
    status: 502,
    headers: { 'content-type': 'application/json' },
    body: new TextEncoder().encode(JSON.stringify({ code: 'forward_failed', message })),
    error: reply.error,
  }
}

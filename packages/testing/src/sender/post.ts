import type { SignedRequest } from '../requests/signed-request.ts'
import { type ExchangeLimits, exchange, type ReplyReceived } from './exchange.ts'

/** Result of one request. Without a `status`, no reply arrived. */
export interface PostResult {
  readonly status?: number
  /** The `code` of the reply, if it has one. */
  readonly code?: string
  /** The first 2,000 characters of the reply's body. */
  readonly body?: string
  readonly retryAfter: string | null
  /** Address that a reply of 3xx leads to. Nothing was sent there. */
  readonly location?: string
  /** Reason why there was no reply. */
  readonly error?: string
  readonly durationMs: number
}

const KEPT_CHARACTERS = 2000
/** A character has at most four bytes. */
const READ_BYTES = 4 * KEPT_CHARACTERS

/** Sends one POST. Redirects are not followed: a 3xx is not an acknowledgement. Never rejects. */
export async function post(
  url: string,
  request: SignedRequest,
  limits: Pick<ExchangeLimits, 'timeoutMs' | 'signal' | 'insecure'>,
): Promise<PostResult> {
  const result = await exchange(url, request, { ...limits, maxBodyBytes: READ_BYTES })
  if ('error' in result) return { retryAfter: null, ...result }
  const body = new TextDecoder().decode(result.body).slice(0, KEPT_CHARACTERS)
  const { status, durationMs } = result
  return {
    status,
    ...codeOf(body),
    body,
    retryAfter: retryAfterOf(result),
    ...redirectOf(url, result),
    durationMs,
  }
}

/** Returns the `code` in a reply's JSON. */
export function codeOf(text: string): { code?: string } {
  if (!text.trimStart().startsWith('{')) return {}
  try {
    const code: unknown = JSON.parse(text)?.code
    return typeof code === 'string' ? { code } : {}
  } catch {
    return {}
  }
}

/** Returns the address that a reply of 3xx leads to, without a user name and password. */
export function redirectOf(
  url: string,
  { status, headers }: Pick<ReplyReceived, 'status' | 'headers'>,
): { location?: string } {
  const target = headers.find(([name]) => name.toLowerCase() === 'location')?.[1]
  if (status < 300 || status > 399 || target === undefined || !URL.canParse(target, url)) return {}
  const location = new URL(target, url)
  location.username = ''
  location.password = ''
  return { location: location.href }
}

/** The `Retry-After` header's value. */
export function retryAfterOf({ headers }: Pick<ReplyReceived, 'headers'>): string | null {
  return headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1] ?? null
}

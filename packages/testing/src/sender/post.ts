import type { SignedRequest } from '../requests/signed-request.ts'

/** The result of one request. Without a `status` there was no reply. */
export interface PostResult {
  readonly status?: number
  /** The `code` of the reply, if it has one. */
  readonly code?: string
  /** The first 2,000 characters of the reply's body. */
  readonly body?: string
  readonly retryAfter: string | null
  /** Why there was no reply. */
  readonly error?: string
  readonly durationMs: number
}

const KEPT_CHARACTERS = 2000

/** One POST. Redirects are not followed: a 3xx is not an acknowledgement. Never rejects. */
export async function post(
  url: string,
  request: SignedRequest,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<PostResult> {
  const startedAt = performance.now()
  const { method, headers, body } = request
  const signal = AbortSignal.any([limits.signal, AbortSignal.timeout(limits.timeoutMs)])
  try {
    const reply = await fetch(url, { method, headers, body, redirect: 'manual', signal })
    const text = (await reply.text()).slice(0, KEPT_CHARACTERS)
    return {
      status: reply.status,
      ...codeOf(text),
      body: text,
      retryAfter: reply.headers.get('retry-after'),
      durationMs: performance.now() - startedAt,
    }
  } catch (error) {
    return {
      retryAfter: null,
      error: reasonOf(error, url, limits),
      durationMs: performance.now() - startedAt,
    }
  }
}

function codeOf(text: string): { code?: string } {
  try {
    const code: unknown = JSON.parse(text)?.code
    return typeof code === 'string' ? { code } : {}
  } catch {
    return {}
  }
}

function reasonOf(
  error: unknown,
  url: string,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): string {
  if (signal.aborted) return 'the sender was closed'
  if (error instanceof Error && error.name === 'TimeoutError') return `no reply within ${timeoutMs} ms`
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error) return (cause as NodeJS.ErrnoException).code ?? cause.message
  // The message of fetch repeats the address, password included.
  if (holdsPassword(url)) return 'the address must hold no user name and no password: fetch refuses it'
  return String(error)
}

function holdsPassword(url: string): boolean {
  const { username, password } = URL.canParse(url) ? new URL(url) : { username: '', password: '' }
  return username !== '' || password !== ''
}

/** Error for a reply other than 2xx, or for no reply (`status` 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal
  /** Called with the reply's headers, before its body is read. */
  readonly onReply?: (headers: Headers) => void
}

/** Time limit until the last byte of a reply; longer than the server's own limit, whose message says more. */
const REPLY_MS = 30_000
const TOKEN = 'ackhook-token'

/** Stores a token for this tab. */
export function setToken(token: string): void {
  sessionStorage.setItem(TOKEN, token)
}

/** Returns the header with this tab's token, if any. */
export function authorization(): Readonly<Record<string, string>> {
  const token = sessionStorage.getItem(TOKEN)
  return token === null ? {} : { authorization: `Bearer ${token}` }
}

/** Calls the API next to this page. `path` is relative, so that it works behind any prefix or proxy. */
export async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
  const { method = 'GET', query = {}, body, signal, onReply } = options
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, String(value)]],
    ),
  ).toString()
  const address = search === '' ? path : `${path}?${search}`
  const { reply, text } = await inTime(method, signal, async limit => {
    const reply = await fetch(address, {
      method,
      // A form on another site can send neither this header nor this content type.
      headers: {
        'x-ackhook': '1',
        ...authorization(),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: limit,
    })
    onReply?.(reply.headers)
    return { reply, text: await reply.text() }
  })
  if (!reply.ok) throw new ApiError(reply.status, messageOf(text) ?? `${reply.status} ${reply.statusText}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

/** Ends `work` with the caller's signal or at the time limit, and says what is known about a missing reply. */
async function inTime<T>(
  method: string,
  signal: AbortSignal | undefined,
  work: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController()
  const abort = (): void => limit.abort()
  const timer = setTimeout(abort, REPLY_MS)
  signal?.addEventListener('abort', abort)
  if (signal?.aborted === true) abort()
  try {
    return await work(limit.signal)
  } catch (cause) {
    if (signal?.aborted === true) throw cause
    const isLate = limit.signal.aborted
    const more = isLate && method !== 'GET' ? ' The change may still be made.' : ''
    const within = isLate ? `did not reply within ${REPLY_MS / 1000} seconds.${more}` : 'does not respond.'
    throw new ApiError(0, `The server ${within}`)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

function messageOf(text: string): string | undefined {
  try {
    const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown }
    for (const one of [message, error]) if (typeof one === 'string') return one
    const inner = (error as { message?: unknown } | null | undefined)?.message
    return typeof inner === 'string' ? inner : undefined
  } catch {
    return undefined
  }
}

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
  const reply = await fetch(search === '' ? path : `${path}?${search}`, {
    method,
    // A form on another site can send neither this header nor this content type.
    headers: {
      'x-ackhook': '1',
      ...authorization(),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  }).catch((cause: unknown) => {
    if (signal?.aborted === true) throw cause
    throw new ApiError(0, 'The server does not respond.')
  })
  onReply?.(reply.headers)
  const text = await reply.text()
  if (!reply.ok) throw new ApiError(reply.status, messageOf(text) ?? `${reply.status} ${reply.statusText}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
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

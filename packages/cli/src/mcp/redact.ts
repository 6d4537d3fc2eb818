/** Returns a JSON value without the content of events, requests, replies and messages, and without customers' addresses. */
export function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact)
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Readonly<Record<string, unknown>>
  // Bytes, as the emulator's API describes them.
  if (typeof fields['text'] === 'string' && 'base64' in fields) return hidden(fields['text'])
  const secret = 'direction' in fields && 'channel' in fields ? MESSAGE : BODY
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      secret.includes(name) && field !== null ? hidden(field) : redact(field),
    ]),
  )
}

const BODY: readonly string[] = ['body']
const MESSAGE: readonly string[] = ['to', 'from', 'text', 'variables']

function hidden(content: unknown): unknown {
  // The body of a delivery is an object of bytes.
  const bytes = (content as { readonly text?: unknown }).text ?? content
  const text = typeof bytes === 'string' ? bytes : JSON.stringify(bytes)
  return `(${Buffer.byteLength(text)} bytes, shown with --bodies)`
}

import type { Facts } from '../evidence/facts.ts'
import type { Finding } from '../evidence/finding.ts'

/** Compares the body with `Content-Length`, or checks that it ends like JSON if that header is missing. */
export function bodyTruncated({ delivery, headers, text }: Facts): Finding | undefined {
  const length = delivery.body.length
  const announced = headers['content-length']
  const expected = announced !== undefined && /^\d+$/.test(announced) ? Number(announced) : undefined
  if (expected !== undefined && expected > length) {
    return {
      cause: 'body-truncated',
      proven: true,
      text: `The body is cut off: Content-Length is ${expected} bytes, but ${length} arrived. Look for a body size limit or a short timeout in a proxy, or for code that saved only part of the body.`,
    }
  }
  if (expected !== undefined && expected < length) {
    return {
      cause: 'body-changed',
      proven: true,
      text: `The body was changed after it was sent: Content-Length is ${expected} bytes, but there are ${length}. Something between the platform and your code rewrites it; give the receiver the bytes as they arrived.`,
    }
  }
  if (expected !== undefined || !/^\s*\{/.test(text) || /\}\s*$/.test(text)) return undefined
  return {
    cause: 'body-truncated',
    proven: false,
    text: `The body seems to be cut off: it begins as a JSON object but does not end as one, after ${length} bytes. Look for a body size limit in a proxy, or for code that saved only part of the body.`,
  }
}

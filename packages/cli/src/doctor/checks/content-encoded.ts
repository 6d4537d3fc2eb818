import type { Facts } from '../evidence/facts.ts'
import type { Finding } from '../evidence/finding.ts'

export function contentEncoded({ headers }: Facts): Finding | undefined {
  const encoding = headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return undefined
  return {
    cause: 'body-compressed',
    proven: false,
    text: 'The request has a Content-Encoding, so something compressed the body, or decompressed it and kept the header. The signature covers the bytes that the platform wrote: disable request compression in the proxy in front of your app.',
  }
}

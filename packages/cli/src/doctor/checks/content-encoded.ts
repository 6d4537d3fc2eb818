import type { Facts } from '../facts.ts'
import type { Finding } from '../finding.ts'

export function contentEncoded({ headers }: Facts): Finding | undefined {
  const encoding = headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return undefined
  return {
    cause: 'body-compressed',
    proven: false,
    text: 'The request has a Content-Encoding, so something compressed the body, or unpacked it and left the header. The signature covers the bytes that the platform wrote: switch off compression of requests in the proxy in front of your app.',
  }
}

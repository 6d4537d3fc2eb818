import type { Facts } from '../facts.ts'
import type { Finding } from '../finding.ts'

const DIGITS = 64

export function headerTruncated({ headerName, headerLines, scheme, code }: Facts): Finding | undefined {
  if (code !== 'signature_malformed') return undefined
  const elements = (headerLines[0] ?? '').split(',').map(element => element.trim())
  const last = elements.at(-1) ?? ''
  const digest = last.startsWith(`${scheme}=`) ? last.slice(scheme.length + 1) : undefined
  const isStart = digest !== undefined && digest.length < DIGITS && /^[0-9a-f]*$/i.test(digest)
  if (!isStart) return undefined
  return {
    cause: 'header-truncated',
    proven: true,
    text: `The signature ends after ${digest.length} of ${DIGITS} digits: the header ${headerName} was cut off. Look for a limit on the length of headers in a proxy, or for a copy from a log that shortens long lines, and take the whole value.`,
  }
}

import type { Facts } from '../evidence/facts.ts'
import type { Finding } from '../evidence/finding.ts'

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
    text: `The signature ends after ${digest.length} of ${DIGITS} digits: the header ${headerName} was cut off. Look for a header size limit in a proxy, or for a log that shortens long lines, and use the whole value.`,
  }
}

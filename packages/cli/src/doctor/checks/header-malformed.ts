import type { Facts } from '../evidence/facts.ts'
import type { Finding } from '../evidence/finding.ts'

/** Recognizes the known ways to get `t=<timestamp>,v1=<64 hexadecimal digits>` wrong. */
export function headerMalformed({ headerName, headerLines, scheme, code }: Facts): Finding | undefined {
  if (code !== 'signature_malformed') return undefined
  const value = headerLines[0] ?? ''
  const expected = `t=<timestamp>,${scheme}=<64 hexadecimal digits>`
  return {
    cause: 'header-malformed',
    proven: true,
    text: `The header ${headerName} does not have the form ${expected}: ${reasonIn(value, scheme)}.`,
  }
}

function reasonIn(value: string, scheme: string): string {
  if (/^\s*["']/.test(value)) return 'it is in quotes. Remove them in the code that sets the header'
  if (value.includes(';'))
    return 'a semicolon separates its parts. Use a comma in the code that sets the header'
  const labels = [...value.matchAll(/(?:^|,)\s*([A-Za-z0-9_-]+)=/g)].map(match => match[1] as string)
  const other = labels.find(label => label !== 't' && label !== scheme)
  if (!labels.includes(scheme) && other !== undefined) {
    return `the signature is labeled '${other}'. If the platform has changed its label, set contract: { scheme: '${other}' }`
  }
  if (!labels.includes(scheme))
    return `it has no ${scheme}=. Check that the platform sends it, and that the whole value arrives`
  if (!labels.includes('t'))
    return 'it has no t=. Check that the whole value arrives; a signature without a time cannot be accepted'
  if (new RegExp(`${scheme}=[A-Za-z0-9+/_-]{43}=?(?:,|$)`).test(value)) {
    return 'the signature is base64 instead of hexadecimal. Encode the digest in hexadecimal in the code that signs'
  }
  return 'compare it character by character with the result of sign() from @ackhook/testing'
}

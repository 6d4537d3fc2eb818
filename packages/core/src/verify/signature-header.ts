import { Refusal } from '../errors/refusal.ts'

/** The parts of a header `t=<timestamp>,v1=<hex>[,v1=<hex>…]`. */
export interface SignatureHeader {
  /** The raw text of `t`: the signature covers this text, never a number printed again. */
  readonly timestamp: string
  /** One to sixteen signatures of 64 hexadecimal digits, as they were sent. */
  readonly signatures: readonly string[]
}

const MAX_HEADER_CHARS = 4096
const MAX_SIGNATURES = 16
/** An HMAC-SHA256 in hexadecimal digits. */
const DIGEST = /^[0-9a-fA-F]{64}$/

/** The form that the platform publishes, read at once. perf: note 46. */
const PUBLISHED = /^t=([^,\s]+),v1=([0-9a-fA-F]{64})$/

/**
 * Reads the signature header. White space around commas, any order, empty elements and unknown schemes are fine, and a
 * signature of another form is ignored beside a well-formed one: a sender may add a form.
 * Two `t` are not: that is also how a header that was sent twice looks once a server has joined its lines.
 */
export function parseSignatureHeader(text: string, scheme: string): SignatureHeader | Refusal {
  if (text.length > MAX_HEADER_CHARS) return malformed(`longer than ${MAX_HEADER_CHARS} characters`)
  const published = scheme === 'v1' ? PUBLISHED.exec(text) : null
  if (published !== null) return { timestamp: published[1] as string, signatures: [published[2] as string] }
  let timestamp: string | undefined
  const signatures: string[] = []
  let hasOtherForm = false
  for (const part of text.split(',')) {
    const element = trimSpace(part)
    if (element === '') continue
    const equals = element.indexOf('=')
    if (equals < 1) return malformed('an element without a name and a value')
    const name = element.slice(0, equals)
    const value = element.slice(equals + 1)
    if (name === 't') {
      if (timestamp !== undefined) return malformed('more than one t: was the header sent twice?')
      timestamp = value
    } else if (name === scheme) {
      if (!DIGEST.test(value)) hasOtherForm = true
      else if (signatures.push(value) > MAX_SIGNATURES)
        return malformed(`more than ${MAX_SIGNATURES} ${scheme}`)
    }
  }
  if (timestamp === undefined) return malformed('no t')
  if (signatures.length > 0) return { timestamp, signatures }
  return malformed(hasOtherForm ? `a ${scheme} that is not 64 hexadecimal digits` : `no ${scheme}`)
}

/** ASCII white space only: `trim` would also remove characters that the sender may have signed. */
function trimSpace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (start < end && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}

function malformed(detail: string): Refusal {
  return new Refusal('signature_malformed', { detail })
}

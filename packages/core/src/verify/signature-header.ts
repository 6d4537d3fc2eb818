import { Refusal } from '../errors/refusal.ts'

/** Parts of a header `t=<timestamp>,v1=<hex>[,v1=<hex>…]`. */
export interface SignatureHeader {
  /** The raw text of `t`: the signature covers this text, not a number formatted again. */
  readonly timestamp: string
  /** One to sixteen signatures of 64 hexadecimal digits, as sent. */
  readonly signatures: readonly string[]
}

const MAX_HEADER_CHARS = 4096
const MAX_SIGNATURES = 16
/** An HMAC-SHA256 in hexadecimal digits. */
const DIGEST = /^[0-9a-fA-F]{64}$/

/** Published form, parsed in one step. perf: note 46. */
const PUBLISHED = /^t=([^,\s]+),v1=([0-9a-fA-F]{64})$/

/**
 * Parses the signature header. Accepts white space around commas, any order, empty elements and unknown schemes, and
 * ignores a signature of another form next to a well-formed one: a sender may add a form. Refuses two `t`, which also
 * result when a server joins the lines of a header sent twice.
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

/** Trims only ASCII white space: `trim` would also remove characters that the sender may have signed. */
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

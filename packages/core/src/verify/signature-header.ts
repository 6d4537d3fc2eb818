import { Refusal } from '../errors/refusal.ts'

/** A header `t=<timestamp>,v1=<hex>[,v1=<hex>…]` and where its parts are. */
export interface SignatureHeader {
  /** All of it, as it was sent. */
  readonly text: string
  /** The raw text of `t`: the signature covers this text, never a number printed again. */
  readonly timestamp: string
  /**
   * Where in `text` the signatures begin, one to sixteen of 64 characters each. Whether these are hexadecimal digits is not
   * known yet: only such digits ever match. Texts that are cut out take longer to compare. perf: note 36.
   */
  readonly offsets: readonly number[]
}

/** Of an HMAC-SHA256 in hexadecimal digits. */
export const SIGNATURE_CHARS = 64
export const MAX_HEADER_CHARS = 4096
const MAX_SIGNATURES = 16
const EQUALS_SIGN = '='.charCodeAt(0)

/**
 * Reads the signature header. White space around commas, any order, empty elements and unknown schemes are fine, and a
 * signature of another form is ignored beside a well-formed one: a sender may add a form.
 * Two `t` are not: that is also how a header that was sent twice looks once a server has joined its lines.
 */
export function parseSignatureHeader(text: string, scheme: string): SignatureHeader | Refusal {
  if (text.length > MAX_HEADER_CHARS) return malformed(`longer than ${MAX_HEADER_CHARS} characters`)
  let timestamp: string | undefined
  let offsets: number[] | undefined
  let hasOtherForm = false
  for (let next = 0; next <= text.length; ) {
    const comma = text.indexOf(',', next)
    let end = comma === -1 ? text.length : comma
    let start = next
    next = end + 1
    while (start < end && isSpace(text, start)) start++
    while (start < end && isSpace(text, end - 1)) end--
    if (start === end) continue
    if (text.startsWith('t=', start)) {
      if (timestamp !== undefined) return malformed('more than one t: was the header sent twice?')
      timestamp = text.slice(start + 2, end)
    } else if (text.startsWith(scheme, start) && text.charCodeAt(start + scheme.length) === EQUALS_SIGN) {
      const at = start + scheme.length + 1
      if (end - at !== SIGNATURE_CHARS) hasOtherForm = true
      // There is one as a rule, and `push` makes room for sixteen more. perf: note 36.
      else if (offsets === undefined) offsets = [at]
      else if (offsets.push(at) > MAX_SIGNATURES) return malformed(`more than ${MAX_SIGNATURES} ${scheme}`)
    } else if (text.slice(start, end).indexOf('=') < 1) {
      return malformed('an element without a name and a value')
    }
  }
  if (timestamp === undefined) return malformed('no t')
  if (offsets === undefined) return hasOtherForm ? noDigest(scheme) : malformed(`no ${scheme}`)
  return { text, timestamp, offsets }
}

/**
 * Refuses a header of which no signature consists of hexadecimal digits. Looking at each character takes time: where the
 * comparison comes next, this is asked only after that has found no match. perf: note 36.
 */
export function requireDigits({ text, offsets }: SignatureHeader, scheme: string): Refusal | undefined {
  const isDigest = (at: number) => !NO_DIGIT.test(text.slice(at, at + SIGNATURE_CHARS))
  return offsets.some(isDigest) ? undefined : noDigest(scheme)
}

const NO_DIGIT = /[^0-9a-fA-F]/

/** White space of ASCII. A request brings no other than spaces and tabs; a header of another source may. */
function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}

function noDigest(scheme: string): Refusal {
  return malformed(`a ${scheme} that is not ${SIGNATURE_CHARS} hexadecimal digits`)
}

function malformed(detail: string): Refusal {
  return new Refusal('signature_malformed', { detail })
}

/** One condition of the filter `status`. */
export type ReplyTerm =
  | { readonly kind: 'status'; readonly from: number; readonly to: number; readonly code: string | undefined }
  /** Part of an error or a code, in lower case. */
  | { readonly kind: 'text'; readonly text: string }

/** Last reply of a delivery. */
export interface LastReply {
  readonly lastStatus: number | null
  readonly lastCode: string | null
  readonly lastError: string | null
}

const MAX_STATUS = 999
const COMPARED = /^(>=|<=|>|<)\s*(\d{1,3})$/
const STATUS = /^(\d{3})(?:\s+(\S+))?$/
const CLASS = /^([1-9])xx$/i

/**
 * Reads what the filter `status` may be: `500`, `5xx`, `>=500`, `500 handler_failed`, part of a code or an error such as
 * `ECONNRESET`, or several of these between commas.
 */
export function readReplyTerms(text: string): readonly ReplyTerm[] {
  return text
    .split(',')
    .map(term => term.trim())
    .filter(term => term !== '')
    .map(toTerm)
}

function toTerm(term: string): ReplyTerm {
  const [, digit] = CLASS.exec(term) ?? []
  if (digit !== undefined) return between(Number(digit) * 100, Number(digit) * 100 + 99)
  const [, status, code] = STATUS.exec(term) ?? []
  if (status !== undefined) return between(Number(status), Number(status), code)
  const [, sign = '', limit] = COMPARED.exec(term) ?? []
  if (limit === undefined) return { kind: 'text', text: term.toLowerCase() }
  const value = Number(limit)
  if (sign === '>=') return between(value, MAX_STATUS)
  if (sign === '>') return between(value + 1, MAX_STATUS)
  return between(0, sign === '<=' ? value : value - 1)
}

function between(from: number, to: number, code?: string): ReplyTerm {
  return { kind: 'status', from, to, code }
}

/** Returns whether a delivery's last reply meets one of the terms. */
export function meetsReplyTerms(terms: readonly ReplyTerm[], reply: LastReply): boolean {
  const { lastStatus, lastCode, lastError } = reply
  return terms.some(term => {
    if (term.kind === 'text')
      return [lastCode, lastError].some(text => text?.toLowerCase().includes(term.text) === true)
    const isCode = term.code === undefined || term.code === lastCode
    return lastStatus !== null && lastStatus >= term.from && lastStatus <= term.to && isCode
  })
}

/** Returns the last reply as lists show it: `500 handler_failed` or `ECONNRESET`; empty without a reply. */
export function replyTextOf({ lastStatus, lastCode, lastError }: LastReply): string {
  return lastStatus === null ? (lastError ?? '') : [lastStatus, lastCode ?? ''].join(' ').trim()
}

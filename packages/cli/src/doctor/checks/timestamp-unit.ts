import type { Facts } from '../evidence/facts.ts'
import type { Finding } from '../evidence/finding.ts'

export function timestampUnit(facts: Facts): Finding | undefined {
  const { signature, code, timestampUnit: expected } = facts
  if (signature === undefined || code !== 'timestamp_malformed') return undefined
  const found = unitOf(signature.timestamp)
  if (found === undefined) {
    return {
      cause: 'timestamp-malformed',
      proven: true,
      text: `The signature's t is not a timestamp: it must be ten digits (seconds), thirteen digits (milliseconds) or ISO 8601 UTC such as 2026-03-01T12:00:00Z. In the code that signs, use Math.floor(Date.now() / 1000).`,
    }
  }
  return {
    cause: 'timestamp-unit',
    proven: true,
    text: `The signature's t is in ${found}, but the receiver expects ${expected === 'iso8601' ? 'ISO 8601' : expected}. Set contract: { timestampUnit: 'auto' } (the default reads every unit), or omit the option.`,
  }
}

function unitOf(text: string): string | undefined {
  if (/^\d{13}$/.test(text)) return 'milliseconds'
  if (/^\d{10}$/.test(text)) return 'seconds'
  return /^\d{4}-\d\d-\d\dT/.test(text) ? 'ISO 8601' : undefined
}

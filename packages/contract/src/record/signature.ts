import type { Contract, HeaderSource } from '@ackhook/core'
import { headerOf, parseSignatureHeader, Refusal } from '@ackhook/core/spi'
import type { RecordedSignature } from './recording.ts'

/** Describes the signature of a verified delivery, without its digest and time. */
export function describeSignature(
  headers: HeaderSource,
  { header, scheme }: Pick<Contract, 'header' | 'scheme'>,
): RecordedSignature | undefined {
  const text = headerOf(headers, header)
  const parsed = text === undefined ? undefined : parseSignatureHeader(text, scheme)
  if (parsed === undefined || parsed instanceof Refusal) return undefined
  return { header, scheme, timestampUnit: unitOf(parsed.timestamp) }
}

const SIGNATURE = /^\s*t=([^,\s]+)\s*,\s*([A-Za-z0-9_-]+)=[0-9a-fA-F]{64}/

/** Finds the signature in the headers of a saved request, whatever its header and its label. */
export function findSignature(
  headers: readonly (readonly [string, string])[],
): RecordedSignature | undefined {
  for (const [name, value] of headers) {
    const [, t, scheme] = SIGNATURE.exec(value) ?? []
    if (t !== undefined && scheme !== undefined)
      return { header: name.toLowerCase(), scheme, timestampUnit: unitOf(t) }
  }
  return undefined
}

function unitOf(t: string): RecordedSignature['timestampUnit'] {
  if (/^\d{10}$/.test(t)) return 'seconds'
  return /^\d{13}$/.test(t) ? 'milliseconds' : 'iso8601'
}

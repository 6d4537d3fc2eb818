import type { EnvelopeFields } from '@ackhook/core'

export const RECORDING = 'ackhook-recording-1'

/** Where a delivery had its signature. The signature itself is not recorded. */
export interface RecordedSignature {
  /** Name of the header, in lower case. */
  readonly header: string
  /** Label of the signature in the header. */
  readonly scheme: string
  readonly timestampUnit: 'seconds' | 'milliseconds' | 'iso8601'
}

/** A recorded delivery, as the JSON of a file. */
export interface Recording {
  readonly format: typeof RECORDING
  /** ISO 8601 UTC. */
  readonly receivedAt: string
  readonly signature?: RecordedSignature | undefined
  /** Names of the envelope's fields that are not the published ones. */
  readonly fields?: Partial<EnvelopeFields> | undefined
  /** Paths whose values are the original ones, such as `data.channel`. `'all'`: nothing was redacted. */
  readonly kept: 'all' | readonly string[]
  /** The event as it arrived: before `contract.fields` and `upcast`. */
  readonly event: unknown
}

export const PUBLISHED: EnvelopeFields = { id: 'id', type: 'type', created_at: 'created_at', data: 'data' }

/** Returns the type of an event, or `''` if it has none. */
export function typeOf(event: unknown, field: string): string {
  const type = (event as Readonly<Record<string, unknown>> | null | undefined)?.[field]
  return typeof type === 'string' ? type : ''
}

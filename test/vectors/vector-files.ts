import { readdirSync, readFileSync } from 'node:fs'
import type { Observation, ReceiverOptions } from '@ackhook/core'

/** One file of vectors: requests to a receiver with this secret at this time, and the expected replies. */
export interface VectorFile {
  readonly about: string
  readonly secret: string
  readonly now: number
  readonly vectors: readonly Vector[]
}

export interface Vector {
  readonly id: string
  readonly about: string
  readonly options?: Partial<ReceiverOptions<Record<never, never>>>
  readonly requests: readonly VectorRequest[]
}

export interface VectorRequest {
  readonly method: string
  readonly headers: [string, string][]
  readonly body: string | readonly { base64: string; times: number }[]
  readonly status: number
  readonly code: string
  readonly reason: string
  readonly conflict?: true
}

const folder = new URL('.', import.meta.url)

export const vectorFiles: readonly VectorFile[] = readdirSync(folder)
  .filter(name => name.endsWith('.json'))
  .map(name => JSON.parse(readFileSync(new URL(name, folder), 'utf8')))

/** Returns the outcome of one request's observations, in the vectors' terms. */
export function outcomeOf(seen: readonly Observation[]): { reason: string; conflict?: true } {
  for (const observation of seen) {
    if (observation.kind === 'rejected' || observation.kind === 'accepted')
      return { reason: observation.code }
    if (observation.kind === 'duplicate')
      return { reason: 'duplicate', ...(observation.conflict && { conflict: true }) }
  }
  throw new Error('nothing was observed')
}

import { eventKey } from '@ackhook/core/spi'
import type { Call } from './recorder.ts'

/** File in the database's folder. */
export const LEDGER = 'ledger.txt'

/** Promises until now, from the ledger of a receiver with `tellsPromises`. */
export interface Promises {
  /** Ids for which a 2xx was about to be sent, with their keys. */
  readonly made: ReadonlyMap<string, string>
  /** Ids among them that were reported as handled: they must not run again. */
  readonly kept: ReadonlySet<string>
  /** Applies the next call on the ledger. */
  heed(call: Call): void
}

export function createPromises(): Promises {
  const made = new Map<string, string>()
  const kept = new Set<string>()
  return {
    made,
    kept,
    heed({ bytes }) {
      // Each line is one write.
      const [what, id = ''] = Buffer.from(bytes).toString().trim().split(' ')
      if (what === 'promised') made.set(id, eventKey('', id) as string)
      if (what === 'idle') for (const each of made.keys()) kept.add(each)
    },
  }
}

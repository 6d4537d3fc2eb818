import { eventKey } from '@ackhook/core/spi'
import type { Call } from './recorder.ts'

/** In the folder of the database. */
export const LEDGER = 'ledger.txt'

/** What was promised until now, as the ledger of a receiver that `tellsPromises` tells it. */
export interface Promises {
  /** The ids that a 2xx was about to be sent for, with their keys. */
  readonly made: ReadonlyMap<string, string>
  /** Those of them that were said to be handled: they do not run again. */
  readonly kept: ReadonlySet<string>
  /** The next call that concerns the ledger. */
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

import type { BulkResult } from '@ackhook/emulator'
import type { Terminal } from '../../terminal/terminal.ts'
import type { EmulatorClient } from '../lib/emulator-client.ts'

/** Page size, small enough for a progress bar that moves. */
const PAGE = 100

interface BulkParts {
  readonly emulator: EmulatorClient
  readonly terminal: Terminal
  readonly label: string
  /** Number of deliveries. */
  readonly count: number
}

/** Replays or discards all matching deliveries page by page, until Ctrl-C. Resolves with their number. */
export async function bulk(verb: 'replay' | 'discard', filter: object, parts: BulkParts): Promise<number> {
  const { emulator, terminal, label, count } = parts
  const bar = terminal.progress(count, label)
  let done = 0
  let after: string | null | undefined
  try {
    do {
      const page: BulkResult = await emulator.post(`/deliveries/${verb}`, {
        filter,
        limit: PAGE,
        ...(after && { after }),
      })
      for (let i = 0; i < page.done; i++) bar.advance()
      done += page.done
      after = page.next
    } while (after !== null && !terminal.stop.aborted)
  } finally {
    bar.stop()
  }
  return done
}

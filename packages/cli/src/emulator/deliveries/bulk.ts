import type { BulkResult } from '@ackhook/emulator'
import type { Terminal } from '../../terminal/terminal.ts'
import type { EmulatorClient } from '../lib/emulator-client.ts'

/** Page size, small enough for a progress bar that moves. */
const PAGE = 100

interface BulkParts {
  readonly emulator: EmulatorClient
  readonly terminal: Terminal
  readonly label: string
  /** Result of a `dryRun`: what it counted is changed, and nothing that matches since. */
  readonly found: BulkResult
}

/** Replays or discards the counted deliveries page by page, until Ctrl-C. Resolves with their number. */
export async function bulk(verb: 'replay' | 'discard', filter: object, parts: BulkParts): Promise<number> {
  const { emulator, terminal, label, found } = parts
  const bar = terminal.progress(found.matched, label)
  let done = 0
  let after = found.next
  try {
    while (after !== null && !terminal.stop.aborted) {
      const page: BulkResult = await emulator.post(`/deliveries/${verb}`, { filter, limit: PAGE, after })
      for (let i = 0; i < page.done; i++) bar.advance()
      done += page.done
      after = page.next
    }
  } finally {
    bar.stop()
  }
  return done
}

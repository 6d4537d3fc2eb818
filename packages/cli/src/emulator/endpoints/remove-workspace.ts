import { printable } from '@ackhook/core/spi'
import { confirmed } from '../../command/confirmed.ts'
import { EXIT } from '../../command/exit-codes.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { report } from '../lib/report.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import type { RemoveFlags } from './endpoint-flags.ts'

/** Removes a workspace with its endpoint. Its deliveries stay in the log. */
export function removeWorkspace(
  args: readonly string[],
  flags: RemoveFlags,
  terminal: Terminal,
): Promise<number> {
  const [id = ''] = args
  return withEmulator(flags, terminal, async emulator => {
    if (!(await confirmed(`Remove the workspace ${printable(id)}?`, flags, terminal))) return EXIT.failed
    await emulator.delete(`/workspaces/${encodeURIComponent(id)}`)
    report({ removed: id }, [`The workspace ${printable(id)} is removed.`], flags, terminal)
    return EXIT.ok
  })
}

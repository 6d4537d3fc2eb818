import { EXIT } from '../command/exit-codes.ts'
import { printable } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { confirmed } from './confirmed.ts'
import type { RemoveFlags } from './emulator-flags.ts'
import { report } from './report.ts'
import { withEmulator } from './with-emulator.ts'

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

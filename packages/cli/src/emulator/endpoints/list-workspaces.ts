import { printable } from '@ackhook/core/spi'
import type { WorkspaceView } from '@ackhook/emulator'
import { EXIT } from '../../command/exit-codes.ts'
import { table } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { PlaceFlags } from '../lib/emulator-flags.ts'
import { report } from '../lib/report.ts'
import { withEmulator } from '../lib/with-emulator.ts'

/** Prints the workspaces, and where each sends to. */
export function listWorkspaces(_: readonly string[], flags: PlaceFlags, terminal: Terminal): Promise<number> {
  return withEmulator(flags, terminal, async emulator => {
    const reply = await emulator.get<{ workspaces: readonly WorkspaceView[] }>('/workspaces')
    const rows = reply.workspaces.map(({ id, endpoint }) =>
      endpoint === null
        ? [id, 'no endpoint']
        : [id, printable(endpoint.url), endpoint.paused ? 'paused' : endpoint.health.status],
    )
    report(reply, table(rows, terminal.columns), flags, terminal)
    return EXIT.ok
  })
}

import type { WorkspaceView } from '@ackhook/emulator'
import { EXIT } from '../../command/exit-codes.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { PlaceFlags } from '../lib/emulator-flags.ts'
import { report } from '../lib/report.ts'
import { withEmulator } from '../lib/with-emulator.ts'

/** Creates a workspace, which has no endpoint yet. */
export function addWorkspace(
  args: readonly string[],
  flags: PlaceFlags,
  terminal: Terminal,
): Promise<number> {
  return withEmulator(flags, terminal, async emulator => {
    const added = await emulator.post<WorkspaceView>('/workspaces', { id: args[0] })
    const next = `Set its endpoint: npx ackhook emulator endpoint set --workspace ${added.id} --to <url>`
    report(added, [`The workspace ${added.id} is there.`, next], flags, terminal)
    return EXIT.ok
  })
}

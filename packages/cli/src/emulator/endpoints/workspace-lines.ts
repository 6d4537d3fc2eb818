import { printable } from '@ackhook/core/spi'
import type { WorkspaceView } from '@ackhook/emulator'
import { table } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

/** Formats the workspaces with the address that each sends to. */
export function workspaceLines(
  workspaces: readonly WorkspaceView[],
  { columns }: Terminal,
): readonly string[] {
  const rows = workspaces.map(({ id, endpoint }) =>
    endpoint === null
      ? [id, 'no endpoint']
      : [id, printable(endpoint.url), endpoint.paused ? 'paused' : endpoint.health.status],
  )
  return table(rows, columns)
}

import { printable } from '@ackhook/core/spi'
import type { WorkspaceView } from '@ackhook/emulator'
import type { Terminal } from '../../terminal/terminal.ts'
import { EmulatorClient } from '../lib/emulator-client.ts'

const TIMEOUT_MS = 2000

/** Describes the emulator that listens on a port of this machine, if there is one. */
export async function portOwner(port: number, terminal: Terminal): Promise<string | undefined> {
  const stop = AbortSignal.any([terminal.stop, AbortSignal.timeout(TIMEOUT_MS)])
  const other = new EmulatorClient(`http://localhost:${port}`, { ...terminal, stop })
  try {
    const { workspaces } = await other.get<{ workspaces: readonly WorkspaceView[] }>('/workspaces')
    const [to] = workspaces.flatMap(({ endpoint }) => endpoint?.url ?? [])
    return `another emulator, ${to === undefined ? 'without an endpoint' : `sending to ${printable(to)}`}`
  } catch {
    return undefined
  }
}

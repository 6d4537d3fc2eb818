import { confirmed } from '../../command/confirmed.ts'
import { EXIT } from '../../command/exit-codes.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { report } from '../lib/report.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import type { RemoveFlags } from './endpoint-flags.ts'
import { endpointPath } from './endpoint-path.ts'

/** Removes the endpoint of a workspace. What is pending becomes undelivered. */
export function removeEndpoint(
  _: readonly string[],
  flags: RemoveFlags,
  terminal: Terminal,
): Promise<number> {
  const { workspace = 'default' } = flags
  return withEmulator(flags, terminal, async emulator => {
    if (!(await confirmed(`Remove the endpoint of ${workspace}?`, flags, terminal))) return EXIT.failed
    await emulator.delete(endpointPath(flags))
    const line = `The endpoint of ${workspace} is removed. What was pending is undelivered.`
    report({ removed: workspace }, [line], flags, terminal)
    return EXIT.ok
  })
}

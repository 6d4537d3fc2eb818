import type { EndpointView } from '@ackhook/emulator'
import { EXIT } from '../command/exit-codes.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { describeEndpoint } from './describe-endpoint.ts'
import type { EndpointFlags } from './emulator-flags.ts'
import { endpointPath } from './endpoint-path.ts'
import { report } from './report.ts'
import { withEmulator } from './with-emulator.ts'

/** Prints the endpoint of a workspace. */
export function showEndpoint(
  _: readonly string[],
  flags: EndpointFlags,
  terminal: Terminal,
): Promise<number> {
  return withEmulator(flags, terminal, async emulator => {
    const endpoint = await emulator.get<EndpointView>(endpointPath(flags))
    report(endpoint, describeEndpoint(endpoint, terminal), flags, terminal)
    return EXIT.ok
  })
}

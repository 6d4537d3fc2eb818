import type { EndpointView } from '@ackhook/emulator'
import { EXIT } from '../../command/exit-codes.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { EndpointFlags } from '../lib/emulator-flags.ts'
import { report } from '../lib/report.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import { describeEndpoint } from './describe-endpoint.ts'
import { endpointPath } from './endpoint-path.ts'

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

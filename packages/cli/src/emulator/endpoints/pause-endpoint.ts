import type { EndpointView } from '@ackhook/emulator'
import { EXIT } from '../../command/exit-codes.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { EndpointFlags } from '../lib/emulator-flags.ts'
import { report } from '../lib/report.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import { describeEndpoint } from './describe-endpoint.ts'
import { endpointPath } from './endpoint-path.ts'

/** Pauses an endpoint, or resumes it. */
export function pauseEndpoint(
  verb: 'pause' | 'resume',
  flags: EndpointFlags,
  terminal: Terminal,
): Promise<number> {
  return withEmulator(flags, terminal, async emulator => {
    const endpoint = await emulator.post<EndpointView>(`${endpointPath(flags)}/${verb}`)
    report(endpoint, describeEndpoint(endpoint, terminal), flags, terminal)
    return EXIT.ok
  })
}

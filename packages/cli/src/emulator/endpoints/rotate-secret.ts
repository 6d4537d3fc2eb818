import type { EndpointResult } from '@ackhook/emulator'
import { EXIT } from '../../command/exit-codes.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import type { RotateFlags } from './endpoint-flags.ts'
import { endpointPath } from './endpoint-path.ts'
import { reportEndpoint } from './report-endpoint.ts'
import { secretIn } from './secret-in.ts'

/** Gives an endpoint a new secret. The old one signs too until the overlap is over. */
export function rotateSecret(_: readonly string[], flags: RotateFlags, terminal: Terminal): Promise<number> {
  const options = { secret: secretIn(flags, terminal), overlap: flags.overlap }
  return withEmulator(flags, terminal, async emulator => {
    const result = await emulator.post<EndpointResult>(`${endpointPath(flags)}/rotate-secret`, options)
    reportEndpoint(result, flags, terminal)
    return EXIT.ok
  })
}

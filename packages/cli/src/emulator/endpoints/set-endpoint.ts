import type { EndpointResult } from '@ackhook/emulator'
import { EXIT } from '../../command/exit-codes.ts'
import { UsageError } from '../../command/usage-error.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import type { SetEndpointFlags } from './endpoint-flags.ts'
import { endpointPath } from './endpoint-path.ts'
import { reportEndpoint } from './report-endpoint.ts'
import { secretIn } from './secret-in.ts'

/** Creates the endpoint of a workspace, or changes what the flags name. */
export function setEndpoint(
  _: readonly string[],
  flags: SetEndpointFlags,
  terminal: Terminal,
): Promise<number> {
  const change = {
    url: flags.to,
    secret: secretIn(flags, terminal),
    categories: chosen('category', flags.category, flags.allCategories),
    types: chosen('type', flags.type, flags.allTypes),
  }
  if (Object.values(change).every(value => value === undefined)) {
    throw new UsageError(
      'say what to change: --to, --category, --all-categories, --type, --all-types or --secrets-file',
    )
  }
  return withEmulator(flags, terminal, async emulator => {
    const result = await emulator.put<EndpointResult>(endpointPath(flags), change)
    reportEndpoint(result, flags, terminal)
    return EXIT.ok
  })
}

/** `null` stands for all there are. */
function chosen(
  name: string,
  some: readonly string[] | undefined,
  all: boolean | undefined,
): readonly string[] | null | undefined {
  if (some !== undefined && all)
    throw new UsageError(`--${name} names some, and the other option all: give one of them`)
  return all ? null : some
}

import type { EndpointChange } from '@ackhook/emulator'
import { UsageError } from '../../command/usage-error.ts'
import type { Typed } from '../lib/call-verb.ts'
import type { SetEndpointFlags } from './endpoint-flags.ts'
import { secretIn } from './secret-in.ts'

/** Returns the changes that the flags make to an endpoint. Throws if there are none. */
export function endpointChange({ flags, terminal }: Typed<SetEndpointFlags>): EndpointChange {
  const change = {
    url: flags.to,
    secret: secretIn(flags, terminal),
    categories: chosen('category', flags.category, flags.allCategories),
    types: chosen('type', flags.type, flags.allTypes),
  }
  if (Object.values(change).some(value => value !== undefined)) return change
  throw new UsageError(
    'give at least one change: --to, --category, --all-categories, --type, --all-types or --secrets-file',
  )
}

/** Returns the given names, or `null` for all. */
function chosen(
  name: string,
  some: readonly string[] | undefined,
  all: boolean | undefined,
): readonly string[] | null | undefined {
  if (some !== undefined && all)
    throw new UsageError(`--${name} names some, and the other option all: give one of them`)
  return all ? null : some
}

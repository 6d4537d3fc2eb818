import type { EndpointFlags } from '../lib/emulator-flags.ts'

/** Where the API has the endpoint of a workspace. */
export function endpointPath({ workspace = 'default' }: EndpointFlags): string {
  return `/workspaces/${encodeURIComponent(workspace)}/endpoint`
}

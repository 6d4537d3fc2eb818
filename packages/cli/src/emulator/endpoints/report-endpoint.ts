import type { EndpointResult } from '@ackhook/emulator'
import { createPaint } from '../../terminal/paint.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { EndpointFlags } from '../lib/emulator-flags.ts'
import { report } from '../lib/report.ts'
import { describeEndpoint } from './describe-endpoint.ts'

/** Prints an endpoint that was changed, and a secret that was made up for it. */
export function reportEndpoint(result: EndpointResult, flags: EndpointFlags, terminal: Terminal): void {
  const { endpoint, secret } = result
  const lines = [...describeEndpoint(endpoint, terminal), ...newSecretLines(secret, terminal)]
  report(result, lines, flags, terminal)
}

/** How to use a secret that was made up just now, which is shown this once. */
function newSecretLines(secret: string | null, { colours }: Terminal): readonly string[] {
  if (secret === null) return []
  const { bold } = createPaint(colours)
  return [
    '',
    'Its secret is shown this once. Set it where your app runs:',
    `  ${bold(`export SIGNING_SECRET=${secret}`)}`,
  ]
}

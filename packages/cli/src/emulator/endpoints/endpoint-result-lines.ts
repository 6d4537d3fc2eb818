import type { EndpointResult } from '@ackhook/emulator'
import { createPaint } from '../../terminal/paint.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { describeEndpoint } from './describe-endpoint.ts'

/** Formats a changed endpoint. A generated secret is shown only once, with how to use it. */
export function endpointResultLines(
  { endpoint, secret }: EndpointResult,
  terminal: Terminal,
): readonly string[] {
  const lines = describeEndpoint(endpoint, terminal)
  if (secret === null) return lines
  const { bold } = createPaint(terminal.colors)
  return [
    ...lines,
    '',
    'Its secret is shown only once. Set it where your app runs:',
    `  ${bold(`export SIGNING_SECRET=${secret}`)}`,
  ]
}

import { printable } from '@ackhook/core/spi'
import type { EndpointView } from '@ackhook/emulator'
import { createPaint } from '../../terminal/paint.ts'
import { table } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

/** Formats an endpoint, with the reason for its health. */
export function describeEndpoint(endpoint: EndpointView, { colors }: Terminal): readonly string[] {
  const { workspace, url, secret, previousSecretUntil, categories, types, paused, health } = endpoint
  const { good, warn } = createPaint(colors)
  const { status, reason, attempts, failures } = health
  const failed = attempts === 0 ? 'no attempts yet' : `${failures} of ${attempts} attempts failed`
  return table([
    ['workspace', workspace],
    ['address', printable(url)],
    ['state', paused ? warn('paused') : 'sending'],
    ['health', `${(reason === null ? good : warn)(status)}, ${reason === null ? failed : printable(reason)}`],
    ['categories', listed(categories)],
    ['types', listed(types)],
    ['secret', secret],
    ...(previousSecretUntil === null ? [] : [['previous', `also signs until ${previousSecretUntil}`]]),
  ])
}

function listed(names: readonly string[] | null): string {
  return names === null ? 'all' : printable(names.join(', ')) || 'none'
}

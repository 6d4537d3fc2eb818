import type { Duration } from '@ackhook/core'
import type { Command } from 'commander'
import { parseDuration } from '../../command/shared-options.ts'

export function withAwait(command: Command): Command {
  return command
    .option('--no-wait', 'do not wait for the receiver')
    .option(
      '--timeout <duration>',
      'wait at most this long for the next reply',
      parseDuration,
      '10s' as Duration,
    )
}

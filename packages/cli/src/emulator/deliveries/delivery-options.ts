import type { Duration } from '@ackhook/core'
import type { Command } from 'commander'
import { parseCount, parseDuration } from '../../command/shared-options.ts'

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

export function withState(command: Command): Command {
  return command
    .option('--state <state>', 'pending, acknowledged, undelivered, replayed, discarded or skipped')
    .option('--status <n>', 'status of the last reply', parseCount)
}

/** Which deliveries are meant, without their state. */
export function withFilter(command: Command): Command {
  return command
    .option('--type <type>', 'event type')
    .option('--category <name>', 'event category, such as message')
    .option('--kind <kind>', 'event, duplicate or replay')
    .option('--event <id>', 'id of the event')
    .option('--message <id>', 'id of the message that the event is about')
    .option('--text <text>', 'part of the event, three characters or more')
    .option('--from <instant>', 'created at this instant (ISO 8601) or later')
    .option('--until <instant>', 'created before this instant')
    .option('--workspace <id>', 'workspace')
}

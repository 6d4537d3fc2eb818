import type { Duration } from '@ackhook/core'
import type { DeliverySelection } from '@ackhook/emulator'
import type { Command } from 'commander'
import { readData, readDataText } from '../command/read-data.ts'
import { parseDuration } from '../command/shared-options.ts'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { EndpointFlags, PlaceFlags } from './options.ts'

/** Flags that select deliveries. */
export interface FilterFlags extends EndpointFlags {
  readonly category?: string
  readonly type?: string
  readonly state?: string
  readonly kind?: string
  readonly status?: number
  readonly event?: string
  readonly message?: string
  readonly text?: string
  readonly from?: string
  readonly until?: string
}

/** Flags that control how long a verb waits for the receiver. */
export interface AwaitFlags extends PlaceFlags {
  /** `false` with --no-wait. */
  readonly wait: boolean
  readonly timeout: Duration
}

/** Flags for event data. */
export interface DataFlags {
  readonly data?: string
  readonly rawData?: string
}

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

/** Returns the filter given by the flags; empty if there is none. The emulator checks its values. */
export function filterOf(flags: FilterFlags): DeliverySelection {
  const { workspace, category, type, state, kind, status, event, message, text, from, until } = flags
  const filter = { workspace, category, type, state, kind, status, event, message, text, from, to: until }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}

/** Returns event data for the API: data to merge over sample data, or raw data to send unchanged. */
export async function dataOf({ data, rawData }: DataFlags, terminal: Terminal): Promise<object> {
  if (data !== undefined && rawData !== undefined) {
    throw new UsageError(
      'give either --data, which is merged over sample data, or --raw-data, which is sent unchanged',
    )
  }
  if (rawData !== undefined) return { rawData: await readDataText(rawData, terminal, '--raw-data') }
  if (data === undefined) return {}
  return { data: await readData(data, terminal, '--data', '; --raw-data keeps it as written') }
}

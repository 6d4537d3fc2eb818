import { readData, readDataText } from '../../command/read-data.ts'
import { UsageError } from '../../command/usage-error.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { DataFlags } from './delivery-flags.ts'

/** The data of an event, as the API takes it: to be merged over sample data, or as it is written. */
export function dataOf({ data, rawData }: DataFlags, terminal: Terminal): object {
  if (data !== undefined && rawData !== undefined) {
    throw new UsageError(
      'give --data, which is merged over sample data, or --raw-data, which is sent as it is written',
    )
  }
  if (rawData !== undefined) return { rawData: readDataText(rawData, terminal.cwd, '--raw-data') }
  if (data === undefined) return {}
  return { data: readData(data, terminal, '--data', '; --raw-data sends it as it is written') }
}

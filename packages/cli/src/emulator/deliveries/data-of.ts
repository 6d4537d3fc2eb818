import { readData, readDataText } from '../../command/read-data.ts'
import { UsageError } from '../../command/usage-error.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { DataFlags } from './delivery-flags.ts'

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

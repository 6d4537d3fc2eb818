import { readData, readDataText } from '../../command/read-data.ts'
import { UsageError } from '../../command/usage-error.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { DataFlags } from './delivery-flags.ts'

/** The data of an event, as the API takes it: to be merged over sample data, or as it is written. */
export function dataOf({ data, rawData }: DataFlags, { cwd, err }: Terminal): object {
  if (data !== undefined && rawData !== undefined) {
    throw new UsageError(
      'give --data, which is merged over sample data, or --raw-data, which is sent as it is written',
    )
  }
  if (rawData !== undefined) return { rawData: readDataText(rawData, cwd, '--raw-data') }
  if (data === undefined) return {}
  const changed = changedNumber(readDataText(data, cwd, '--data'))
  if (changed !== undefined) {
    err(`Note: --data sends ${changed} as ${String(Number(changed))}; --raw-data sends it as it is written.`)
  }
  return { data: readData(data, cwd) }
}

/** The first number that is written in another way once it has been read, such as 1.0 and what is beyond 2^53. */
function changedNumber(json: string): string | undefined {
  const tokens = json.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g) ?? []
  return tokens.find(token => !token.startsWith('"') && String(Number(token)) !== token)
}

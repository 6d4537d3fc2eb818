import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError } from './usage-error.ts'

/** The data of an event: JSON, or a file with it. */
export function readData(source: string, cwd: string): Record<string, unknown> {
  const inline = source.trimStart().startsWith('{')
  const text = inline ? source : readText(source, cwd)
  const where = inline ? '--data' : source
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new UsageError(`${where} is not JSON: ${(cause as Error).message}`, { cause })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new UsageError(`${where} must be a JSON object, such as {"resolved_by":"agent"}`)
}

function readText(file: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, file), 'utf8')
  } catch (cause) {
    throw new UsageError(
      `--data is neither JSON (which begins with {) nor a readable file: ${(cause as Error).message}`,
      { cause },
    )
  }
}

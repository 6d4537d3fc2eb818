import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError } from './usage-error.ts'

/** The data of an event: JSON, or a file with it. */
export function readData(source: string, cwd: string, option = '--data'): Record<string, unknown> {
  return JSON.parse(readDataText(source, cwd, option)) as Record<string, unknown>
}

/** The text of a JSON object as it was typed, or as it is in a file. */
export function readDataText(source: string, cwd: string, option: string): string {
  const inline = source.trimStart().startsWith('{')
  const text = inline ? source : readText(source, cwd, option)
  const where = inline ? option : source
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new UsageError(`${where} is not JSON: ${(cause as Error).message}`, { cause })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return text.trim()
  throw new UsageError(`${where} must be a JSON object, such as {"resolved_by":"agent"}`)
}

function readText(file: string, cwd: string, option: string): string {
  try {
    return readFileSync(resolve(cwd, file), 'utf8')
  } catch (cause) {
    throw new UsageError(
      `${option} is neither JSON (which begins with {) nor a readable file: ${(cause as Error).message}`,
      { cause },
    )
  }
}

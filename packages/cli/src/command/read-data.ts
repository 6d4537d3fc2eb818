import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError } from './usage-error.ts'

/** Directory of relative paths, and output for notes. */
export interface DataPlace {
  readonly cwd: string
  err(line: string): void
}

/**
 * Parses event data, given as JSON or as the path of a JSON file. Prints a note if JSON changes the notation of a number;
 * `unchanged` ends the note with an option that keeps it.
 */
export function readData(
  source: string,
  { cwd, err }: DataPlace,
  option = '--data',
  unchanged = '',
): Record<string, unknown> {
  const text = readDataText(source, cwd, option)
  const changed = changedNumber(text)
  if (changed !== undefined)
    err(`Note: ${option} sends ${changed} as ${String(Number(changed))}${unchanged}.`)
  return JSON.parse(text) as Record<string, unknown>
}

/** Returns the first number that JSON would write differently, such as 1.0 or one beyond 2^53. */
function changedNumber(json: string): string | undefined {
  const tokens = json.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g) ?? []
  return tokens.find(token => !token.startsWith('"') && String(Number(token)) !== token)
}

/** Returns the text of a JSON object, as typed or as stored in a file. */
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

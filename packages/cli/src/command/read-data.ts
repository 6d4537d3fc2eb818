import { printable } from '@ackhook/core/spi'
import { shorten } from '../terminal/text.ts'
import { readText, STANDARD_INPUT, type TextPlace } from './read-text.ts'
import { UsageError } from './usage-error.ts'

/** Source of data, and output for notes. */
export interface DataPlace extends TextPlace {
  err(line: string): void
}

/**
 * Parses event data, given as JSON, as the path of a JSON file, or as `-` for standard input. Prints a note if JSON
 * changes the notation of a number; `unchanged` ends the note with an option that keeps it.
 */
export async function readData(
  source: string,
  place: DataPlace,
  option = '--data',
  unchanged = '',
): Promise<Record<string, unknown>> {
  const text = await readDataText(source, place, option)
  const changed = changedNumber(text)
  if (changed !== undefined)
    place.err(`Note: ${option} sends ${changed} as ${String(Number(changed))}${unchanged}.`)
  return JSON.parse(text) as Record<string, unknown>
}

/** Returns the first number that JSON would write differently, such as 1.0 or one beyond 2^53. */
function changedNumber(json: string): string | undefined {
  const tokens = json.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g) ?? []
  return tokens.find(token => !token.startsWith('"') && String(Number(token)) !== token)
}

/** Returns the text of a JSON object, as typed or as read. */
export async function readDataText(source: string, place: TextPlace, option: string): Promise<string> {
  const inline = /^\s*['"]?\s*\{/.test(source)
  const text = inline ? source : await readFileText(source, place, option)
  const where = inline ? option : source === STANDARD_INPUT ? 'standard input' : source
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    if (inline && isUnquoted(source)) throw new UsageError(lostQuotes(source, option), { cause })
    throw new UsageError(`${where} is not JSON: ${(cause as Error).message}`, { cause })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return text.trim()
  throw new UsageError(`${where} must be a JSON object, such as {"resolved_by":"agent"}`)
}

async function readFileText(file: string, place: TextPlace, option: string): Promise<string> {
  try {
    return await readText(file, place)
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    if (/^[\w-]+:\s*\S/.test(file) && (cause as NodeJS.ErrnoException).code === 'ENOENT')
      throw new UsageError(lostQuotes(file, option), { cause })
    throw new UsageError(
      `${option} is neither JSON (which begins with {), nor - for standard input, nor a readable file: ${(cause as Error).message}`,
      { cause },
    )
  }
}

/** Every JSON object with a field has a double quote. A shell that takes it from the text may leave single ones. */
function isUnquoted(source: string): boolean {
  return /^\s*['"]/.test(source) || !/["']/.test(source)
}

function lostQuotes(source: string, option: string): string {
  return `the shell took the quotes of ${option}: ${printable(shorten(source, 60))} arrived. ${QUOTING}`
}

/** How to write JSON in each shell, or around it. */
export const QUOTING = `Write '{"resolved_by":"agent"}' in bash, zsh and PowerShell 7.3, "{\\"resolved_by\\":\\"agent\\"}" in cmd, '{\\"resolved_by\\":\\"agent\\"}' in Windows PowerShell; or put the JSON into a file, or pass - and pipe it in.`

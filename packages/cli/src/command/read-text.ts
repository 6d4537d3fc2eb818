import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Terminal } from '../terminal/terminal.ts'
import { UsageError } from './usage-error.ts'

/** The name that stands for standard input. */
export const STANDARD_INPUT = '-'

/** Source of text that a user names. */
export type TextPlace = Pick<Terminal, 'cwd' | 'input'>

/** Reads a text file, or standard input for `-`. Rejects with the system's error, or `UsageError` for unreadable text. */
export async function readText(file: string, { cwd, input }: TextPlace): Promise<string> {
  if (file !== STANDARD_INPUT) return readTextFile(resolve(cwd, file), file)
  const bytes = await input()
  if (bytes !== undefined) return decodeText(bytes, 'standard input')
  throw new UsageError('only one option can read standard input: pass a file to the other')
}

/** Reads a text file in UTF-8 or UTF-16. Throws the system's error, or `UsageError` for unreadable text. */
export function readTextFile(path: string, named: string): string {
  return decodeText(readFileSync(path), named)
}

/**
 * Decodes text without its byte order mark. Editors and shells on Windows write one, or UTF-16, which `>` does in
 * Windows PowerShell.
 */
function decodeText(bytes: Uint8Array, named: string): string {
  const encoding = encodingOf(bytes)
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new UsageError(`${named} is not text in UTF-8: save it as UTF-8`, { cause })
  }
}

/** A mark says it. Without one, the second or first half of an ASCII character's two bytes is 0. */
export function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first !== undefined && first !== 0 && second === 0) return 'utf-16le'
  return first === 0 && second !== undefined && second !== 0 ? 'utf-16be' : 'utf-8'
}

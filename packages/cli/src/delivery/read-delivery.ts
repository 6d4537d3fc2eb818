import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readTextFile } from '../command/read-text.ts'
import { UsageError } from '../command/usage-error.ts'
import type { CapturedRequest } from './captured-request.ts'
import { fromDeliveryFile } from './delivery-file.ts'

/** Reads a saved delivery. Errors name the file and say what is wrong with it. */
export function readDelivery(path: string): CapturedRequest {
  try {
    return fromDeliveryFile(JSON.parse(readTextFile(path, 'this')))
  } catch (cause) {
    const reason =
      cause instanceof SyntaxError ? 'this is not a saved delivery: it is not JSON' : (cause as Error).message
    throw new UsageError(`${path}: ${reason}`, { cause })
  }
}

/** Returns the file itself, or the `.json` files of a directory in name order. */
export function deliveryFiles(path: string, cwd: string): readonly string[] {
  const full = resolve(cwd, path)
  const stat = statSync(full, { throwIfNoEntry: false })
  if (stat === undefined) throw new UsageError(`there is no file or directory ${path}`)
  if (!stat.isDirectory()) return [full]
  const names = readdirSync(full)
    .filter(name => name.endsWith('.json'))
    .sort()
  if (names.length === 0) throw new UsageError(`the directory ${path} contains no .json file`)
  return names.map(name => join(full, name))
}

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { printable } from '@ackhook/core/spi'
import { UsageError } from './usage-error.ts'

/** Loads a module of the user's. Rejects with `UsageError` that names it. */
export async function importModule(file: string, cwd: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(resolve(cwd, file)).href)) as Readonly<Record<string, unknown>>
  } catch (cause) {
    const isTypeScript = (cause as NodeJS.ErrnoException).code === 'ERR_UNKNOWN_FILE_EXTENSION'
    const reason = isTypeScript
      ? 'this version of Node cannot run TypeScript: compile it, or use Node 22.18 or later'
      : printable(cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause))
    throw new UsageError(`${file} cannot be loaded: ${reason}`, { cause })
  }
}

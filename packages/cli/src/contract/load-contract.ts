import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { importModule } from '../command/import-module.ts'
import { loadFromProject } from '../command/load-from-project.ts'
import { UsageError } from '../command/usage-error.ts'

/** A recorded delivery, opaque to this command. */
export interface Recording {
  readonly event: unknown
}

type ReadRecordings = (path: string) => readonly Recording[]

/** Reads recorded deliveries with the package of the user's project. */
export async function readRecorded(path: string, cwd: string): Promise<readonly Recording[]> {
  const read = await loadFromProject<ReadRecordings>('@ackhook/contract/node', 'readRecordings', cwd)
  return read(resolve(cwd, path))
}

/** Reads what is known of the contract: recorded deliveries, or the schemas that a module exports as `events`. */
export async function readKnown(path: string, cwd: string): Promise<object> {
  if (/\.json$/.test(path) || statSync(resolve(cwd, path), { throwIfNoEntry: false })?.isDirectory())
    return readRecorded(path, cwd)
  const { events } = await importModule(path, cwd)
  if (typeof events === 'object' && events !== null) return events
  throw new UsageError(`${path} must export events: the schemas of your receiver's option events`)
}

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigurationError } from '@ackhook/core'
import { RECORDING, type Recording } from './recording.ts'
import { findSignature } from './signature.ts'

/** What `ackhook listen --save` writes. */
interface SavedDelivery {
  readonly receivedAt: string
  readonly headers?: readonly (readonly [string, string])[]
  /** Base64 of the exact bytes. */
  readonly body: string
}

/**
 * Reads recordings: a file, or all `.json` files of a folder in the order of their names. Deliveries that `ackhook listen
 * --save` has saved are recordings too, of which nothing is redacted. Throws `ConfigurationError` that names the file.
 *
 * @example
 * watchDrift(hooks, { known: readRecordings('recorded') })
 */
export function readRecordings(path: string): readonly Recording[] {
  return filesOf(path).map(file => {
    try {
      return toRecording(JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, '')))
    } catch (cause) {
      throw new ConfigurationError('path', `${file} is no recorded delivery: ${(cause as Error).message}`)
    }
  })
}

function filesOf(path: string): readonly string[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw new ConfigurationError('path', `there is no file or folder ${path}`)
  if (!stats.isDirectory()) return [path]
  const names = readdirSync(path).filter(name => name.endsWith('.json'))
  if (names.length === 0)
    throw new ConfigurationError('path', `the folder ${path} has no recorded delivery${unverifiedIn(path)}`)
  return names.sort().map(name => join(path, name))
}

/** `ackhook listen --save` puts what anyone may have sent into a folder of its own. */
function unverifiedIn(path: string): string {
  const folder = join(path, 'unverified')
  return existsSync(folder)
    ? `; those in ${folder} were not verified, and are read if you name that folder`
    : ''
}

function toRecording(value: unknown): Recording {
  const { format } = Object(value) as { readonly format?: unknown }
  if (format === RECORDING && 'event' in Object(value)) return value as Recording
  const { receivedAt, headers = [], body } = Object(value) as SavedDelivery
  if (typeof body !== 'string') throw new Error(`it has neither the format '${RECORDING}' nor a 'body'`)
  const signature = findSignature(Array.isArray(headers) ? headers : Object.entries(headers))
  const event: unknown = JSON.parse(Buffer.from(body, 'base64').toString())
  return { format: RECORDING, receivedAt, ...(signature !== undefined && { signature }), kept: 'all', event }
}

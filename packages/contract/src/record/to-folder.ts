import { mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError } from '@ackhook/core'
import { refuseUnknownNames, wholeNumber } from '@ackhook/core/spi'
import type { WriteRecording } from './record-deliveries.ts'

/** Options of {@link toFolder}. */
export interface FolderOptions {
  /** Maximum bytes in the folder, those of earlier processes included. Default 64 MiB. */
  readonly maxBytes?: number | undefined
}

/**
 * Writes recordings to files of a folder, which is created if it is missing. Only this user can read them. Throws
 * `ConfigurationError` for a wrong option.
 *
 * @example
 * recordDeliveries(hooks, { write: toFolder('recorded') })
 */
export function toFolder(path: string, options: FolderOptions = {}): WriteRecording {
  refuseUnknownNames(options, ['maxBytes'], '', '{ maxBytes: 1_048_576 }')
  const maxBytes = wholeNumber(
    'maxBytes',
    options.maxBytes ?? 67_108_864,
    1,
    Number.MAX_SAFE_INTEGER,
    'bytes',
  )
  if (typeof path !== 'string' || path === '')
    throw new ConfigurationError('path', "must be the path of a folder, such as 'recorded'")
  let opening: Promise<number> | undefined
  let written = 0
  return async (name, text) => {
    opening ??= open(path)
    const before = await opening.catch(cause => {
      opening = undefined
      throw cause
    })
    written += text.length
    if (before + written > maxBytes) throw new Error(`the folder ${path} holds ${maxBytes} bytes already`)
    const temporary = join(path, `${name}.${process.pid}.tmp`)
    await writeFile(temporary, text, { mode: 0o600 })
    await rename(temporary, join(path, name))
  }
}

/** Returns the bytes of the recordings that are there. */
async function open(path: string): Promise<number> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  const names = (await readdir(path)).filter(name => name.endsWith('.json'))
  const sizes = await Promise.all(names.map(async name => (await stat(join(path, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

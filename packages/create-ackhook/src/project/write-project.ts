import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Entries ignored, so that a new repository counts as an empty folder. */
const IGNORED: readonly string[] = ['.git']
const SHOWN = 3

/** Returns why a project cannot be written to a folder, with the fix; `undefined` if it can. */
export function folderFault(cwd: string, folder: string): string | undefined {
  try {
    const files = readdirSync(resolve(cwd, folder)).filter(name => !IGNORED.includes(name))
    if (files.length === 0) return undefined
    const more = files.length > SHOWN ? ` and ${files.length - SHOWN} more` : ''
    return `${folder} is not empty (${files.slice(0, SHOWN).join(', ')}${more}): choose another folder`
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    return code === 'ENOTDIR'
      ? `${folder} is not a folder: choose another one`
      : `${folder} cannot be read (${code}): check its permissions, or choose another folder`
  }
}

/** Creates a folder and writes the files below it. Overwrites none. */
export function writeProject(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    // `.env` has a secret, which other users of the machine must not read.
    writeFileSync(path, content, { flag: 'wx', mode: name === '.env' ? 0o600 : 0o666 })
  }
}

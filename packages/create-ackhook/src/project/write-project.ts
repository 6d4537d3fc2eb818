import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** A repository that was just created is still an empty folder. */
const IGNORED: readonly string[] = ['.git']
const SHOWN = 3

/** Why a project cannot be written to this folder, with the fix. `undefined`: it can. */
export function folderFault(cwd: string, folder: string): string | undefined {
  try {
    const files = readdirSync(resolve(cwd, folder)).filter(name => !IGNORED.includes(name))
    if (files.length === 0) return undefined
    const more = files.length > SHOWN ? ` and ${files.length - SHOWN} more` : ''
    return `${folder} is not empty (${files.slice(0, SHOWN).join(', ')}${more}): name another folder`
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    return code === 'ENOTDIR'
      ? `${folder} is not a folder: name another one`
      : `${folder} cannot be read (${code}): check its permissions, or name another folder`
  }
}

/** Writes the files below a folder that it creates. Overwrites none. */
export function writeProject(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content, { flag: 'wx' })
  }
}

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The folder that `npm ci` fills. */
export const FOLDER: string = fileURLToPath(new URL('.', import.meta.url))

/** Imports a framework's module. The caller provides its type: types are not installed by default either. */
export async function load<Module>(name: string): Promise<Module> {
  const { resolve } = createRequire(`${FOLDER}package.json`)
  return (await import(pathToFileURL(resolve(name)).href)) as Module
}

/** Returns whether a framework is installed. `npm run test:frameworks` installs them all, and must not skip tests. */
export function isInstalled(name: string): boolean {
  return process.env['ACKHOOK_FRAMEWORKS'] === 'installed' || existsSync(`${FOLDER}node_modules/${name}`)
}

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The folder that `npm ci` fills. */
export const FOLDER: string = fileURLToPath(new URL('.', import.meta.url))

/** A module of a framework, typed by whoever uses it: the types are not installed by default either. */
export async function load<Module>(name: string): Promise<Module> {
  const { resolve } = createRequire(`${FOLDER}package.json`)
  return (await import(pathToFileURL(resolve(name)).href)) as Module
}

/** Whether the frameworks are installed. `npm run test:frameworks` installs them, and its tests must not be skipped. */
export function isInstalled(name: string): boolean {
  return process.env['ACKHOOK_FRAMEWORKS'] === 'installed' || existsSync(`${FOLDER}node_modules/${name}`)
}

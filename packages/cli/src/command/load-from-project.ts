import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UsageError } from './usage-error.ts'

/**
 * Loads the function `name` of a package: from the user's project if installed there, so that both sides agree,
 * otherwise from this command's own dependencies.
 */
export async function loadFromProject<Loaded>(
  packageName: string,
  name: string,
  cwd: string,
): Promise<Loaded> {
  const module = (await importFrom(packageName, cwd)) as Readonly<Record<string, unknown>>
  if (typeof module[name] === 'function') return module[name] as Loaded
  throw new UsageError(
    `the installed ${packageName} has no ${name}: install the version that matches ackhook`,
  )
}

async function importFrom(name: string, cwd: string): Promise<object> {
  for (const from of [join(cwd, 'package.json'), import.meta.url]) {
    const path = resolvePath(name, from)
    if (path !== undefined) return (await import(pathToFileURL(path).href)) as object
  }
  const [scope = name, own] = name.split('/')
  const installed = own === undefined ? scope : `${scope}/${own}`
  throw new UsageError(
    `${installed} is not installed here. Install it in your project: npm install ${installed}`,
  )
}

function resolvePath(name: string, from: string): string | undefined {
  try {
    return createRequire(from).resolve(name)
  } catch {
    return undefined
  }
}

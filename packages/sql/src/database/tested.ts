import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Newest minor versions with which this package was tested: those of `test/databases`. */
export const TESTED: Readonly<Record<string, string>> = {
  'drizzle-orm': '0.45',
  kysely: '0.29',
  mysql2: '3.24',
  pg: '8.23',
}

/** Returns a sentence if the application has a newer version of a library than was tested. In a bundle, nothing tells. */
export function whyUntested(library: string | undefined): string | undefined {
  const tested = TESTED[library ?? '']
  const version = tested === undefined ? undefined : versionOf(String(library))
  if (tested === undefined || version === undefined || !isNewer(version, tested)) return undefined
  return `${library} ${version} is newer than what @ackhook/sql was tested with (${tested}).`
}

function versionOf(library: string): string | undefined {
  try {
    const load = createRequire(join(process.cwd(), 'index.js'))
    const { version } = load(`${library}/package.json`) as { readonly version?: unknown }
    return typeof version === 'string' ? version : undefined
  } catch {
    return undefined
  }
}

/** Compares major and minor versions. */
export function isNewer(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [otherMajor = 0, otherMinor = 0] = than.split('.').map(Number)
  return major > otherMajor || (major === otherMajor && minor > otherMinor)
}

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const POSTGRES_VERSIONS = '/usr/lib/postgresql'

/** Returns a program's path. On Debian, PostgreSQL's programs are not in `PATH`, and a user's `PATH` lacks servers. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin']
  if (existsSync(POSTGRES_VERSIONS)) {
    const newestFirst = readdirSync(POSTGRES_VERSIONS).sort((a, b) => Number(b) - Number(a))
    folders.push(...newestFirst.map(version => join(POSTGRES_VERSIONS, version, 'bin')))
  }
  return folders.map(folder => join(folder, name)).find(existsSync)
}

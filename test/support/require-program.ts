import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The path of a server's program, installed from Debian's packages when it is missing and this user may do so.
 * Throws with the one line to run otherwise: a test that skips itself would be a failure nobody sees.
 */
export function requireProgram(name: 'redis-server' | 'postgres'): string {
  const found = find(name)
  if (found !== undefined) return found
  const install = `apt-get update && apt-get install -y --no-install-recommends ${PACKAGES[name]}`
  if (process.getuid?.() === 0) {
    execFileSync('sh', ['-c', install], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  }
  const installed = find(name)
  if (installed !== undefined) return installed
  throw new Error(`These tests need ${name}. Run as root: ${install}`)
}

const PACKAGES = { 'redis-server': 'redis-server', postgres: 'postgresql' } as const
const POSTGRES_VERSIONS = '/usr/lib/postgresql'

function find(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(':')
  if (existsSync(POSTGRES_VERSIONS)) {
    const newestFirst = readdirSync(POSTGRES_VERSIONS).sort((a, b) => Number(b) - Number(a))
    folders.push(...newestFirst.map(version => join(POSTGRES_VERSIONS, version, 'bin')))
  }
  return folders.map(folder => join(folder, name)).find(existsSync)
}

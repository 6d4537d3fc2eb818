/**
 * Adds other platforms' optional binaries that npm left out of a lock file, and all missing integrity values.
 *
 * npm drops an optional dependency from the lock if the configured registry does not have it, and `npm ci` then rejects
 * the lock as incomplete. The ranges of such packages are exact, so only the integrity must be looked up. Run
 * `node scripts/complete-lock.mjs [path of another lock file]` after every `npm install`.
 */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'

const file = process.argv[2] ?? new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(file, 'utf8'))
const entries = lock.packages
let added = 0

for (const [path, parent] of Object.entries(entries)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    if (entries[`node_modules/${name}`] || entries[`${path}/node_modules/${name}`]) continue
    if (!/^\d+\.\d+\.\d+[-.\w]*$/.test(version)) throw new Error(`${name} has no exact version: ${version}`)
    entries[`node_modules/${name}`] = {
      version,
      ...platformOf(name),
      ...(parent.dev && { dev: true }),
      license: parent.license,
      optional: true,
    }
    added++
  }
}

const unproven = Object.keys(entries).filter(
  path => path.includes('node_modules/') && !entries[path].link && !entries[path].integrity,
)
for (const path of unproven) entries[path] = await withIntegrity(path, entries[path])

lock.packages = Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
process.stdout.write(`${added} entries and ${unproven.length} integrities added to ${file}\n`)

/** Returns the entry with its integrity, in npm's order: after the version. */
async function withIntegrity(path, { version, ...rest }) {
  const name = rest.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const view = ['view', `${name}@${version}`, 'dist.integrity', '--json']
  const { stdout } = await promisify(execFile)('npm', view, { shell: process.platform === 'win32' })
  const integrity = JSON.parse(stdout.trim() || 'null')
  if (!/^sha512-/.test(integrity)) throw new Error(`the registry has no integrity for ${name}@${version}`)
  return { version, integrity, ...rest }
}

function platformOf(name) {
  const words = name.replace(/^@[^/]+\//, '').split('-')
  const os = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32', 'windows'].find(one =>
    words.includes(one),
  )
  const cpu = ['arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'x64', '64'].find(one =>
    words.includes(one),
  )
  if (os === undefined || cpu === undefined) throw new Error(`cannot read the platform of ${name}`)
  return {
    cpu: [cpu === '64' ? 'x64' : cpu],
    os: [os === 'windows' ? 'win32' : os],
    ...(words.some(word => word.startsWith('musl')) && { libc: ['musl'] }),
  }
}

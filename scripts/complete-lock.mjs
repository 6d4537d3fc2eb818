/**
 * Adds to the lock file the optional binaries of other platforms that npm left out.
 *
 * npm drops an optional dependency from the lock when the registry it happens to talk to does not carry it, and
 * `npm ci` then refuses the lock as incomplete. The ranges of such packages are exact, so an entry can be written
 * without asking the registry. Run after every `npm install`: `node scripts/complete-lock.mjs`, with the path of the lock
 * file where it is not the one of the root.
 */
import { readFileSync, writeFileSync } from 'node:fs'

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

lock.packages = Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
process.stdout.write(`${added} entries added to ${file}\n`)

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

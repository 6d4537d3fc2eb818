/**
 * Turns changesets into versions and changelogs, with all packages in lockstep. Also updates the version ranges between
 * our packages, and the version in sources that cannot read a manifest when bundled.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const root = new URL('../', import.meta.url)
const SOURCES = { core: 'src/lib/version.ts', opentelemetry: 'src/version.ts' }
const published = manifestsIn('packages')
const all = [...published, ...manifestsIn('examples'), 'test/package.json', 'ui/package.json']
const ours = new Set(published.map(file => read(file).name))

// `^0.1.0` excludes 0.2.0, and changesets bumps the major version if a peer leaves its range: 1.0.0 at the first minor.
writeRanges('>=0.0.0')
const changeset = createRequire(import.meta.url).resolve('@changesets/cli/bin.js')
const { status } = spawnSync(process.execPath, [changeset, 'version'], {
  cwd: fileURLToPath(root),
  stdio: 'inherit',
})
const { version } = read(published[0])
writeRanges(`^${version}`)
for (const [name, path] of Object.entries(SOURCES)) {
  const file = new URL(`packages/${name}/${path}`, root)
  writeFileSync(file, readFileSync(file, 'utf8').replace(/'[\d.]+[^']*'/, `'${version}'`))
}
process.exitCode = status ?? 1

function writeRanges(range) {
  for (const file of all) {
    const manifest = read(file)
    for (const field of ['dependencies', 'peerDependencies', 'devDependencies']) {
      for (const name of Object.keys(manifest[field] ?? {})) if (ours.has(name)) manifest[field][name] = range
    }
    writeFileSync(new URL(file, root), `${JSON.stringify(manifest, null, 2)}\n`)
  }
}

function manifestsIn(folder) {
  const names = readdirSync(new URL(folder, root)).map(name => `${folder}/${name}/package.json`)
  return names.filter(file => existsSync(new URL(file, root)))
}

function read(file) {
  return JSON.parse(readFileSync(new URL(file, root), 'utf8'))
}

/**
 * Packs every package into a folder, as they will be published, and prints the command that installs them in another
 * project: the way to use them before the release. With names (`npm run pack -- express sqlite`), the command installs
 * only these and the packages that they need.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'packed')
const packages = new Map(
  readdirSync(join(root, 'packages')).map(folder => {
    const path = join(root, 'packages', folder)
    const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
    const file = `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`
    return [manifest.name, { path, manifest, file: join(target, file) }]
  }),
)
const wanted = namesOf(process.argv.slice(2))

npm(['run', 'build', '--silent'], root)
rmSync(target, { recursive: true, force: true })
mkdirSync(target)
for (const { path, manifest } of packages.values()) pack(path, manifest)
report()

function pack(path, manifest) {
  const ours = Object.keys(manifest.dependencies ?? {}).filter(name => packages.has(name))
  // The scripts would build again.
  npm(['pack', '--ignore-scripts', '--silent', '--pack-destination', target], path)
  if (ours.length > 0) pointToFiles(manifest.name, ours)
}

/** Lets a packed package find its dependencies in the same folder: no registry has them. */
function pointToFiles(name, dependencies) {
  const { file } = packages.get(name)
  const stage = mkdtempSync(join(tmpdir(), 'ackhook-pack-'))
  execFileSync('tar', ['-xzf', file, '-C', stage])
  const path = join(stage, 'package', 'package.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8'))
  for (const one of dependencies) manifest.dependencies[one] = `file:${packages.get(one).file}`
  writeFileSync(path, JSON.stringify(manifest, null, 2))
  npm(['pack', '--ignore-scripts', '--silent', '--pack-destination', target], join(stage, 'package'))
  rmSync(stage, { recursive: true, force: true })
}

function namesOf(given) {
  if (given.length === 0) return [...packages.keys()]
  const names = given.map(one => named(one) ?? unknown(one))
  const all = new Set()
  const add = name => {
    if (all.has(name)) return
    all.add(name)
    const { dependencies, peerDependencies, peerDependenciesMeta } = packages.get(name).manifest
    const peers = Object.keys(peerDependencies ?? {}).filter(one => !peerDependenciesMeta?.[one]?.optional)
    for (const one of [...Object.keys(dependencies ?? {}), ...peers]) if (packages.has(one)) add(one)
  }
  names.forEach(add)
  return [...all].sort()
}

/** Finds a package by its name or its folder, which is the name without the scope, or `cli`. */
function named(one) {
  return [...packages.keys()].find(name => name === one || basename(packages.get(name).path) === one)
}

function unknown(name) {
  const known = [...packages.keys()].map(one => one.replace('@ackhook/', '')).join(', ')
  process.stderr.write(`There is no package ${name}. The packages are ${known}.\n`)
  process.exit(1)
}

function report() {
  const files = wanted.map(name => `"${packages.get(name).file}"`)
  process.stdout.write(
    `${packages.size} packages are in ${target}. In your own project, with npm (or pnpm add, yarn add, bun add):\n\n` +
      `npm install ${files.join(' ')}\n`,
  )
}

function npm(args, cwd) {
  execFileSync('npm', args, {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
}

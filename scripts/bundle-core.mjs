/**
 * Writes core's JavaScript into `packages/core/dist`, next to the types from `tsc -b`: a file for each entry point in
 * package.json, two chunks of shared code, and one with raw-body. Node takes three times as long to load a hundred
 * small files. perf: note 33.
 *
 * raw-body is written as a module: in an application's own bundle, the `require` of its dependencies throws at the
 * import if the bundle is a module too.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { esmExternalRequirePlugin } from 'rolldown/plugins'

const core = fileURLToPath(new URL('../packages/core/', import.meta.url))
/** What the entry points that create no receiver need, besides what {@link belowImports} finds. */
const BASE = /src.(errors|lib|observe)/

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeBundle(join(core, 'dist'))

/** Writes the bundle. Leaves unchanged files alone: a process may be loading them. */
async function writeBundle(folder) {
  const below = new Set()
  const groups = [
    { name: 'raw-body', test: /node_modules/, priority: 2 },
    { name: 'base', test: id => BASE.test(id) || below.has(id), priority: 1 },
    { name: 'receiver', test: /src/, minShareCount: 2 },
  ]
  const files = await build({ chunkFileNames: 'shared/[name].js', codeSplitting: { groups } }, [
    belowImports(below),
  ])
  for (const name of readdirSync(folder, { recursive: true })) {
    if (/\.js(\.map)?$/.test(name) && !files.has(name.replaceAll('\\', '/'))) rmSync(join(folder, name))
  }
  for (const [name, text] of files) {
    const path = join(folder, name)
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFile(path, text)
  }
}

/** Writes core as a package into a new `folder`, with a file for each source, for tools that need its internals. */
export async function writeCoreByFile(folder) {
  // Links its dependencies, which are not bundled.
  symlinkSync(
    fileURLToPath(new URL('../node_modules', import.meta.url)),
    join(folder, 'node_modules'),
    'junction',
  )
  cpSync(join(core, 'package.json'), join(folder, 'package.json'))
  const files = await build({ preserveModules: true, preserveModulesRoot: 'src' })
  for (const [name, text] of files) writeFile(join(folder, 'dist', name), text)
}

/** Returns each file's text by its name. */
async function build(output, plugins = []) {
  const bundle = await rolldown({
    cwd: core,
    input: entries(),
    platform: 'neutral',
    resolve: { mainFields: ['main'] },
    plugins: [
      ...plugins,
      rawBodyOnly(),
      esmExternalRequirePlugin({ external: ['path', 'util', 'async_hooks'] }),
    ],
  })
  const built = await bundle.generate({ sourcemap: true, sourcemapExcludeSources: true, ...output })
  await bundle.close()
  const files = new Map(
    built.output.map(file => [file.fileName, file.type === 'chunk' ? file.code : file.source]),
  )
  const rawBody = files.get('shared/raw-body.js')
  // Its sources are not in the package.
  if (rawBody !== undefined && files.delete('shared/raw-body.js.map'))
    files.set('shared/raw-body.js', rawBody.replace(/\/\/# sourceMappingURL=.*/, ''))
  return files.set(
    'shared/raw-body.licenses.txt',
    licensesOf(built.output.flatMap(file => file.moduleIds ?? [])),
  )
}

/** Returns the licenses of the packages that bundled modules belong to. */
function licensesOf(modules) {
  const packages = new Set(modules.flatMap(id => /^.*node_modules.(?:@[^\\/]+.)?[^\\/]+/.exec(id) ?? []))
  return [...packages]
    .sort()
    .map(folder => {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const license = readdirSync(folder).find(file => /^licen[cs]e/i.test(file))
      return `${name} ${version}\n\n${readFileSync(join(folder, license), 'utf8').trim()}\n`
    })
    .join('\n---\n\n')
}

/** Bundles raw-body with its dependencies, except iconv-lite, which only decodes text. All other packages stay imports. */
function rawBodyOnly() {
  return {
    name: 'raw-body-only',
    resolveId(id, importer = '') {
      if (id === 'iconv-lite') return '\0nothing'
      const isOwn = /^[.\0]/.test(id) || id === 'raw-body' || importer.includes('node_modules')
      return isOwn || id.startsWith('/') ? undefined : { id, external: true }
    },
    load: id => (id === '\0nothing' ? 'export {}' : undefined),
  }
}

/**
 * Adds the modules that a file in package.json's `imports` shares with other entry points. The chunk `receiver` imports those
 * files, so it must not contain these: of two files that import each other, a loader hook may run either first.
 */
function belowImports(below) {
  return {
    name: 'below-imports',
    buildEnd() {
      const reach = (id, found = new Set()) => {
        for (const imported of this.getModuleInfo(id)?.importedIds ?? []) {
          if (!imported.startsWith(join(core, 'src')) || found.has(imported)) continue
          reach(imported, found.add(imported))
        }
        return found
      }
      const inner = targetsOf(manifest().imports)
      const reached = Object.keys(entries()).map(name => ({
        isInner: inner.includes(name),
        modules: reach(join(core, 'src', `${name}.ts`)),
      }))
      for (const { isInner, modules } of reached) {
        for (const id of isInner ? modules : [])
          if (reached.filter(one => one.modules.has(id)).length > 1) below.add(id)
      }
    },
  }
}

/** Returns the sources of the files below `dist` that `exports` and `imports` refer to, by name without extension. */
function entries() {
  const { exports, imports } = manifest()
  return Object.fromEntries(targetsOf([exports, imports]).map(name => [name, `./src/${name}.ts`]))
}

/** Returns the files below `dist` that a part of package.json refers to, by name without extension. */
function targetsOf(part) {
  return Array.from(JSON.stringify(part).matchAll(/"\.\/dist\/([^"]+)\.js"/g), ([, name]) => name)
}

function manifest() {
  return JSON.parse(readFileSync(join(core, 'package.json'), 'utf8'))
}

function writeFile(path, text) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

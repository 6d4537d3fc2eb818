/**
 * Writes the JavaScript of core into `packages/core/dist`, where `tsc -b` puts its types: a file for each entry point that
 * package.json names, and two chunks with what they share. Node loads a hundred small files three times as slowly.
 * perf: note 33.
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

const core = fileURLToPath(new URL('../packages/core/', import.meta.url))
/** Imports of the files in `imports` of package.json. The other chunk imports those, so they are not in it. */
const BASE = /src.(errors|lib|observe|platform.console-logger|inbox.memory.scheduler)/

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeBundle(join(core, 'dist'))

/** Leaves alone what has not changed: a process may be loading it. */
async function writeBundle(folder) {
  const groups = [
    { name: 'base', test: BASE, priority: 1 },
    { name: 'receiver', test: /src/, minShareCount: 2 },
  ]
  const files = await build({ chunkFileNames: 'shared/[name].js', codeSplitting: { groups } })
  for (const name of readdirSync(folder, { recursive: true })) {
    if (/\.js(\.map)?$/.test(name) && !files.has(name.replaceAll('\\', '/'))) rmSync(join(folder, name))
  }
  for (const [name, text] of files) {
    const path = join(folder, name)
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFile(path, text)
  }
}

/** Core as a package in `folder`, which must be new, with a file for each of its sources, for tools that look inside. */
export async function writeCoreByFile(folder) {
  // Its dependencies, which stay outside of the bundle.
  symlinkSync(
    fileURLToPath(new URL('../node_modules', import.meta.url)),
    join(folder, 'node_modules'),
    'junction',
  )
  cpSync(join(core, 'package.json'), join(folder, 'package.json'))
  const files = await build({ preserveModules: true, preserveModulesRoot: 'src' })
  for (const [name, text] of files) writeFile(join(folder, 'dist', name), text)
}

/** The text of each file by its name. */
async function build(output) {
  const bundle = await rolldown({ cwd: core, input: entries(), platform: 'neutral', external: /^[^./]/ })
  const built = await bundle.generate({ sourcemap: true, sourcemapExcludeSources: true, ...output })
  await bundle.close()
  return new Map(built.output.map(file => [file.fileName, file.type === 'chunk' ? file.code : file.source]))
}

/** Each file below `dist` that the maps `exports` and `imports` lead to, without its ending, and its source. */
function entries() {
  const { exports, imports } = JSON.parse(readFileSync(join(core, 'package.json'), 'utf8'))
  const targets = JSON.stringify([exports, imports]).matchAll(/"\.\/dist\/([^"]+)\.js"/g)
  return Object.fromEntries(Array.from(targets, ([, name]) => [name, `./src/${name}.ts`]))
}

function writeFile(path, text) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

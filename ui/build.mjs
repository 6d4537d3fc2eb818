// Builds the pages into the packages that serve them. The dashboard gets one module, `page/assets.js`, because it is
// mounted wherever JavaScript runs, Workers and bundles included. The emulator gets files, as it always has a disk.
// With `--if-changed`, pages newer than all their sources are kept, because tests build before each run.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ERRORS, pageOptions } from './page-options.mjs'

// Vitest, which builds before its tests, sets this to `test`, and Vite would build another page.
process.env['NODE_ENV'] = 'production'

const root = fileURLToPath(new URL('.', import.meta.url))
const TYPES = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
  txt: 'text/plain',
}
/** Licenses of the packages in a page, which must be passed on with it. */
const LICENSES = 'licenses.txt'

const packages = fileURLToPath(new URL('../packages/', import.meta.url))
await buildPage('dashboard', `${packages}dashboard/page/assets.js`, (assets, into) =>
  writeFileSync(into, `export const assets = ${JSON.stringify(assets, undefined, 1)}\n`),
)
await buildPage('emulator', `${packages}emulator/page/index.html`, (assets, into) => {
  rmSync(join(dirname(into), 'assets'), { recursive: true, force: true })
  mkdirSync(join(dirname(into), 'assets'))
  for (const [name, { body }] of Object.entries(assets)) writeFileSync(join(dirname(into), name), body)
})

async function buildPage(page, into, write) {
  if (process.argv.includes('--if-changed') && isUpToDate(page, into)) return
  const { [LICENSES]: licenses, ...assets } = await assetsOf(page)
  mkdirSync(dirname(into), { recursive: true })
  writeFileSync(join(dirname(into), LICENSES), licenses.body)
  write(assets, into)
}

function isUpToDate(page, into) {
  if (!existsSync(into)) return false
  const folders = ['kit', page].map(name => `${root}src/${name}`)
  // The event types come from the first two, commands for curl and the faults from the others.
  for (const name of ['core/dist', 'testing/dist', 'emulator/dist/lib', 'emulator/dist/shapes'])
    folders.push(packages + name)
  const sources = folders.flatMap(folder =>
    readdirSync(folder, { recursive: true }).map(file => join(folder, file)),
  )
  const newest = Math.max(
    ...[...sources, ERRORS, `${root}build.mjs`, `${root}page-options.mjs`].map(
      file => statSync(file).mtimeMs,
    ),
  )
  return statSync(into).mtimeMs > newest
}

/** Returns each asset's text, type and entity tag by path. The page itself is `index.html`. */
async function assetsOf(page) {
  const { build } = await import('vite')
  const { output } = await build({
    ...pageOptions(page),
    logLevel: 'warn',
    build: {
      write: false,
      // Only the page preloads modules: those it loads later have no dependencies.
      modulePreload: {
        polyfill: false,
        resolveDependencies: (_, files, { hostType }) => (hostType === 'html' ? files : []),
      },
      assetsInlineLimit: 0,
      target: 'es2022',
      cssCodeSplit: false,
      license: { fileName: LICENSES },
    },
  })
  // Vite returns files in the order of completion.
  const files = output.toSorted((a, b) => (a.fileName < b.fileName ? -1 : 1))
  return Object.fromEntries(files.map(file => [file.fileName, assetOf(file)]))
}

function assetOf(file) {
  const body = file.type === 'chunk' ? file.code : String(file.source)
  const type = TYPES[file.fileName.split('.').at(-1)]
  if (type === undefined) throw new Error(`No known content type for ${file.fileName}`)
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`
  return { type: `${type}; charset=utf-8`, etag, body }
}

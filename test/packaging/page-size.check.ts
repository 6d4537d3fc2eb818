import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { ROOT } from '../support/workspace-packages.ts'

/** Limits in compressed bytes: of a page's initial JavaScript and CSS, and of everything it may load. */
const MOST = { atStart: 50_000, inAll: 100_000 }

it.each(['dashboard', 'emulator'])('the %s page is small', async page => {
  const files = await filesOf(page)
  const html = files.find(([name]) => name === 'index.html')?.[1] ?? ''
  const code = files.filter(([name]) => /\.(js|css)$/.test(name))
  // The page preloads its initial chunks and imports the others on demand.
  const first = code.filter(([name]) => html.includes(name))
  expect(first.map(([name]) => name.split('.').at(-1))).toEqual(expect.arrayContaining(['js', 'css']))
  const sizes = { atStart: sizeOf(first), inAll: sizeOf(code) }
  process.stdout.write(`${page}: ${sizes.atStart} bytes at its start and ${sizes.inAll} in all, gzip\n`)
  expect(sizes.atStart).toBeLessThanOrEqual(MOST.atStart)
  expect(sizes.inAll).toBeLessThanOrEqual(MOST.inAll)
})

type File = readonly [name: string, text: string]

function sizeOf(files: readonly File[]): number {
  return files.reduce((sum, [, text]) => sum + gzipSync(text, { level: 9 }).length, 0)
}

/** Returns a page's files: the dashboard has them in a module, the emulator in a folder. */
async function filesOf(page: string): Promise<readonly File[]> {
  const folder = `${ROOT}packages/${page}/page/`
  if (page === 'emulator') {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return names
      .filter(name => name.includes('.'))
      .map(name => [name, readFileSync(`${folder}${name}`, 'utf8')])
  }
  const { assets } = (await import(`${folder}assets.js`)) as {
    readonly assets: Readonly<Record<string, { readonly body: string }>>
  }
  return Object.entries(assets).map(([name, { body }]) => [name, body])
}

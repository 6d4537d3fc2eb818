import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { ROOT } from '../support/workspace-packages.ts'

/** Bytes, compressed, of one page. */
const MOST = { js: 45_000, css: 8000 }

it.each(['dashboard', 'emulator'])('the page of the %s is small', async page => {
  const files = await filesOf(page)
  for (const [extension, most] of Object.entries(MOST)) {
    const found = files.filter(([name]) => name.endsWith(`.${extension}`))
    const bytes = found.reduce((sum, [, text]) => sum + gzipSync(text, { level: 9 }).length, 0)
    process.stdout.write(`${page}: ${bytes} bytes of ${extension}, gzip\n`)
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThan(most)
  }
})

/** The dashboard has its files in a module, the emulator in a folder. */
async function filesOf(page: string): Promise<readonly (readonly [name: string, text: string])[]> {
  const folder = `${ROOT}packages/${page}/page/`
  if (page === 'emulator')
    return readdirSync(`${folder}assets`).map(name => [name, readFileSync(`${folder}assets/${name}`, 'utf8')])
  const { assets } = (await import(`${folder}assets.js`)) as {
    readonly assets: Readonly<Record<string, { readonly body: string }>>
  }
  return Object.entries(assets).map(([name, { body }]) => [name, body])
}

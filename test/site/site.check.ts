import { mkdirSync, readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, launchBrowser, openPage } from '../support/browser.ts'
import { builtPages, fileFor, serveSite } from './built-site.ts'

const pages = builtPages()
const SCREENSHOTS = process.env['SCREENSHOTS']
const OVERFLOW = 'document.documentElement.scrollWidth - innerWidth'
const BROKEN_IMAGES =
  '[...document.images].filter(one => one.complete && one.naturalWidth === 0).map(one => one.src)'
let browser: Browser
let server: Server
let origin: string

beforeAll(async () => {
  browser = await launchBrowser()
  ;({ server, origin } = await serveSite())
  if (SCREENSHOTS !== undefined) mkdirSync(SCREENSHOTS, { recursive: true })
})
afterAll(async () => {
  await browser?.close()
  server?.close()
})

it('has every documentation page', () => {
  expect(pages.size).toBeGreaterThan(50)
})

it('links to pages, headings and files that exist', () => {
  const broken = [...pages].flatMap(([page, html]) =>
    [...html.matchAll(/(?:href|src)="(\/[^"]*|#[^"]*)"/g)]
      .map(match => (match[1] ?? '').replaceAll('&amp;', '&'))
      .filter(link => !exists(page, link))
      .map(link => `${page} → ${link}`),
  )
  expect(broken).toEqual([])
})

it('has an index and the Markdown of every page for tools', () => {
  const index = readFileSync(fileFor('/llms.txt') ?? '', 'utf8')
  const listed = [...index.matchAll(/\]\((\/[^)]+\.md)\)/g)].map(match => match[1] ?? '')
  expect(listed.length).toBeGreaterThan(50)
  expect(listed.filter(page => fileFor(page) === undefined)).toEqual([])
})

describe.each([
  { width: 1280, scheme: 'light' as const },
  { width: 390, scheme: 'dark' as const },
])('at $width pixels, $scheme', ({ width, scheme }) => {
  it('shows every page within the window, with its images, and without requests to other hosts', async () => {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme })
    const faults: string[] = []
    for (const path of pages.keys()) {
      const { page, problems } = await openPage(context, origin + path)
      faults.push(...problems.map(problem => `${path}: ${problem}`))
      if (Number(await page.evaluate(OVERFLOW)) > 0) faults.push(`${path}: wider than the window`)
      for (const image of (await page.evaluate(BROKEN_IMAGES)) as string[]) faults.push(`${path}: ${image}`)
      const name = path === '/' ? 'index' : path.slice(1).replaceAll('/', '+')
      if (SCREENSHOTS !== undefined) await page.screenshot({ path: `${SCREENSHOTS}/${name}.${width}.png` })
      await page.close()
    }
    await context.close()
    expect(faults).toEqual([])
  })
})

it('finds a page by a word, offers other forms of a code block, and switches between light and dark', async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' })
  const { page, problems } = await openPage(context, `${origin}/getting-started/express`)
  await page.getByText('pnpm', { exact: true }).first().click()
  expect(await page.locator('.vp-code-group .active').first().textContent()).toContain('pnpm add')
  await page.getByRole('switch').first().click()
  expect(await page.locator('html').getAttribute('class')).toContain('dark')
  await page.keyboard.press('Control+k')
  await page.locator('#localsearch-input').fill('redrive')
  await page.locator('.result').first().waitFor()
  expect(await page.locator('.result').first().textContent()).toMatch(/dead letter/i)
  expect(await page.locator('.edit-link-button').count()).toBeLessThan(2)
  expect(problems).toEqual([])
  await context.close()
})

it('shows declarations in the API reference in one form', () => {
  const reference = [...pages].filter(([page]) => page.startsWith('/api/'))
  expect(reference.length).toBeGreaterThan(10)
  expect(reference.filter(([, html]) => html.includes('vp-code-group'))).toEqual([])
})

it('links each page to its source', () => {
  const without = [...pages].filter(
    ([, html]) =>
      !/href="https:\/\/github.com\/ackhook\/ackhook\/(edit\/main\/docs|tree\/main\/packages)\//.test(html),
  )
  expect(without.map(([page]) => page)).toEqual([])
})

/** Returns whether a page's link leads to a file of the site, and its fragment to an element in it. */
function exists(page: string, link: string): boolean {
  const [path = '', fragment] = link.split('#')
  const file = fileFor(path === '' ? page : path)
  if (file === undefined) return false
  return (
    fragment === undefined ||
    fragment === '' ||
    readFileSync(file, 'utf8').includes(`id="${decodeURI(fragment)}"`)
  )
}

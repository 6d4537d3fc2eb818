import { mkdirSync, readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, expectAccessible, launchBrowser, openPage } from '../support/browser.ts'
import { ROOT } from '../support/workspace-packages.ts'
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
  expect(listed).toContain('/packages/sqlite.md')
})

describe.each([
  { width: 1280, scheme: 'light' as const },
  { width: 390, scheme: 'dark' as const },
])('at $width pixels, $scheme', ({ width, scheme }) => {
  // A hundred pages, each opened anew.
  const timeout = 900_000

  it('shows every page within the window, with its images, and without requests to other hosts', {
    timeout,
  }, async () => {
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

/** One of each kind of page. */
const KINDS = [
  '/',
  '/getting-started/express',
  '/run/deploying',
  '/reference/options',
  '/errors',
  '/glossary',
  '/packages/bullmq',
]

it.each([
  { width: 1280, colorScheme: 'light' as const },
  { width: 390, colorScheme: 'dark' as const },
])('is accessible at $width pixels, $colorScheme', { timeout: 600_000 }, async ({ width, colorScheme }) => {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
  for (const path of KINDS) {
    const { page } = await openPage(context, origin + path)
    await expectAccessible(page)
    await page.close()
  }
  await context.close()
})

it('keeps a choice of code forms across pages, and changes every command of the page by it', async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' })
  const { page, problems } = await openPage(context, `${origin}/getting-started/express`)
  const shown = async () => (await page.locator('.vp-doc').innerText()).replaceAll('\u200b', '')
  expect(await shown()).toMatch(/npm install @ackhook[\s\S]*server\.mjs[\s\S]*npx ackhook send/)
  await page.getByRole('button', { name: 'pnpm' }).first().click()
  await page.getByRole('button', { name: 'TypeScript' }).first().click()
  expect(await shown()).toMatch(
    /pnpm add @ackhook[\s\S]*node --import tsx server\.mts[\s\S]*pnpm exec ackhook send/,
  )
  expect(await shown()).not.toMatch(/npx ackhook|npm install|server\.mjs/)
  await page.getByRole('navigation', { name: 'Framework' }).getByText('Fastify').click()
  await page.getByRole('heading', { level: 1, name: 'Fastify' }).waitFor()
  expect(await shown()).toMatch(
    /pnpm add @ackhook\/core @ackhook\/fastify[\s\S]*node --import tsx server\.mts/,
  )
  expect(await page.getByRole('button', { name: 'pnpm' }).first().getAttribute('aria-pressed')).toBe('true')
  await page.goto(origin)
  expect(await shown()).toContain("import { webhooks } from '@ackhook/fastify'")
  expect(await shown()).not.toContain("import { webhooks } from '@ackhook/express'")
  expect(problems).toEqual([])
  await context.close()
})

it('copies a page as Markdown, and switches between light and dark', async () => {
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
  const { page, problems } = await openPage(context, `${origin}/packages/sqlite`)
  await page.getByRole('button', { name: 'Copy page as Markdown' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain('# @ackhook/sqlite')
  await page.getByRole('switch').first().click()
  expect(await page.locator('html').getAttribute('class')).toContain('dark')
  expect(problems).toEqual([])
  await context.close()
})

const QUESTIONS: readonly (readonly [question: string, page: RegExp])[] = [
  ['express.json and the raw body', /getting-started\/express#body-parsers|errors#|run\/troubleshooting/],
  ['rotate a secret', /run\/securing#rotation/],
  ['a tunnel to my laptop', /run\/deploying#a-tunnel/],
  ['Kubernetes', /run\/deploying#kubernetes/],
  ['Docker', /run\/deploying#a-container/],
  ['retries', /run\/dead-letters/],
  ['Vercel', /getting-started\/other-frameworks#vercel|getting-started\/nextjs/],
  ['Vitest', /packages\/testing|getting-started\/testing-your-handlers/],
  ['signature_mismatch', /errors|run\/troubleshooting/],
  ['SQLite set-up', /packages\/sqlite|understand\/choosing-an-inbox#nothing-lost-on-one-machine/],
  ['BullMQ on PostgreSQL', /packages\/bullmq/],
  ['graceful shutdown', /run\/deploying/],
  ['migrate from my own receiver', /getting-started\/moving-from/],
  ['Prisma, Drizzle or Knex', /run\/your-database|packages\/sql/],
  ['Heroku, Railway, Fly', /run\/hosts/],
  ['redrive', /run\/dead-letters/],
  ['Sentry', /run\/error-tracking/],
  ['Temporal', /run\/workflows/],
]

it('answers what newcomers ask by the first hit', async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const { page, problems } = await openPage(context, `${origin}/getting-started/express`)
  await page.keyboard.press('Control+k')
  const first = page.locator('.result').first()
  const wrong: string[] = []
  for (const [question, wanted] of QUESTIONS) {
    await page.locator('#localsearch-input').fill('')
    await first.waitFor({ state: 'detached' })
    await page.locator('#localsearch-input').fill(question)
    await first.waitFor()
    const found = (await first.getAttribute('href')) ?? ''
    if (!wanted.test(found)) wrong.push(`${question}: ${found}`)
  }
  expect(wrong).toEqual([])
  expect(problems).toEqual([])
  await context.close()
})

it('describes each page in a sentence of its own, with a picture for links to it', () => {
  const described = [...pages].map(([page, html]) => ({
    page,
    text: /<meta name="description" content="([^"]*)"/.exec(html)?.[1] ?? '',
    picture: html.includes('property="og:image"'),
  }))
  expect(described.filter(one => !one.picture || one.text.length < 30 || one.text.length > 200)).toEqual([])
  const texts = described.filter(one => !one.page.startsWith('/api/')).map(one => one.text)
  expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([])
  expect(fileFor('/og.png')).toBeDefined()
})

it.runIf(process.env['KEEP_IMAGES'] === '1')('draws that picture', async () => {
  const page = await browser.newPage({ viewport: { width: 1200, height: 630 } })
  await page.goto(`file://${ROOT}site/og.html`)
  await page.screenshot({ path: `${ROOT}site/public/og.png` })
  await page.close()
})

it('lists its pages in a sitemap', () => {
  const listed = readFileSync(fileFor('/sitemap.xml') ?? '', 'utf8').match(/<loc>/g) ?? []
  expect(listed.length).toBe(pages.size)
})

it('has a first page of at most 300 kB, all it loads included', async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  let bytes = 0
  page.on('response', response => {
    const file = fileFor(new URL(response.url()).pathname)
    if (file !== undefined) bytes += sizeOf(file)
  })
  await page.goto(origin, { waitUntil: 'networkidle' })
  process.stdout.write(`first page: ${bytes} bytes\n`)
  expect(bytes).toBeLessThanOrEqual(300_000)
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
      !/href="https:\/\/github.com\/ackhook\/ackhook\/(edit\/main\/(docs|packages)|tree\/main\/packages)\//.test(
        html,
      ),
  )
  expect(without.map(([page]) => page)).toEqual([])
})

/** Returns a file's size on the wire: static hosts compress text. */
function sizeOf(file: string): number {
  const content = readFileSync(file)
  return /\.(png|woff2)$/.test(file) ? content.length : gzipSync(content).length
}

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

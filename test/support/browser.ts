import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core'
import { expect } from 'vitest'
import { requireBrowser } from './require-browser.ts'

export type { Browser, BrowserContext, Page, Request }

/** Starts a headless Chromium. The caller closes it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: requireBrowser(),
    // Disables graphics that no test needs, which would be computed in software.
    args: ['--no-sandbox', '--disable-gpu', '--disable-software-rasterizer'],
  })
}

/** A page with its problems: script errors, violations of its content policy, and requests to other origins. */
export interface WatchedPage {
  readonly page: Page
  readonly problems: readonly string[]
}

/** Opens a page and records its problems. */
export async function openPage(context: BrowserContext, url: string): Promise<WatchedPage> {
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', error => problems.push(`error: ${error.message}`))
  page.on('console', message => message.type() === 'error' && problems.push(`console: ${message.text()}`))
  page.on('request', request => {
    if (new URL(request.url()).origin !== new URL(url).origin) problems.push(`foreign: ${request.url()}`)
  })
  await page.addInitScript(REPORT_VIOLATIONS)
  await page.goto(url)
  return { page, problems }
}

const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url))

/** Takes a screenshot of the page for the documentation. Only `npm run docs:images` keeps it. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  const kept = process.env['KEEP_IMAGES'] === '1'
  await page.screenshot(kept ? { path: `${IMAGES}${name}.png` } : {})
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
/** Scripts that run in the page. Strings, since the tests have no DOM types. */
const RUN_AXE = `axe
  .run(document, { rules: { 'target-size': { enabled: true } } })
  .then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(node => node.html).join(' | ')))`
const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', event =>
  console.error('policy ' + event.violatedDirective + ' ' + event.sample))`

/** Fails with axe's findings on the current page: WCAG 2.2 AA with the sizes of targets, and best practices. The context needs `bypassCSP`. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(readFileSync(AXE, 'utf8'))
  const violations = await page.evaluate(RUN_AXE)
  expect(violations).toEqual([])
}

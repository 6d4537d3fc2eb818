import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
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

/** A script, since the tests have no DOM types: a headless browser shows all of its tabs. */
export const setVisibility = (state: 'visible' | 'hidden') => `
  Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
  document.dispatchEvent(new Event('visibilitychange'))`

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

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
/** Rules of WCAG 2.0 to 2.2, A and AA, and best practices. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** Scripts that run in the page. Strings, since the tests have no DOM types. */
const RUN_AXE = `axe
  .run(document, {
    runOnly: ${JSON.stringify(TAGS)},
    rules: { 'target-size': { enabled: true } },
    resultTypes: ['violations'],
  })
  .then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(node => node.html).join(' | ')))`
const HAS_AXE = 'typeof axe === "object"'
/** Resolves once a change of the window is rendered, with what is wider than the window. */
const RUN_OVERFLOW = `new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() =>
  document.documentElement.scrollWidth <= innerWidth ? [] : ['wider than the window: ' + document.documentElement.scrollWidth])`
const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', event =>
  console.error('policy ' + event.violatedDirective + ' ' + event.sample))`

/** Returns axe's findings on the current page: WCAG 2.2 AA with the sizes of targets, and best practices. The context needs `bypassCSP`. */
async function violationsOf(page: Page): Promise<readonly string[]> {
  if ((await page.evaluate(HAS_AXE)) !== true) await page.evaluate(readFileSync(AXE, 'utf8'))
  return (await page.evaluate(RUN_AXE)) as readonly string[]
}

/** Fails with axe's findings on the current page. The context needs `bypassCSP`. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await violationsOf(page)).toEqual([])
}

/** A desktop, a phone, and a desktop of 1280 pixels at a zoom of 400 %. */
const WIDTHS = [1440, 390, 320] as const
const SCHEMES = ['light', 'dark'] as const

/** Width and color scheme of a page that is checked. */
export type Look = readonly [width: (typeof WIDTHS)[number], scheme: (typeof SCHEMES)[number]]
const LOOKS: readonly Look[] = WIDTHS.flatMap(width => SCHEMES.map((scheme): Look => [width, scheme]))

/** Context for a page that is checked in several looks. */
export const ACCESSIBLE_AT = { bypassCSP: true, viewport: { width: 1440, height: 900 } }

/**
 * Checks the page's current state in each look, with axe and for content wider than the window. `arrange` completes the
 * state at a width. Names the state in a failure, and lets the test go on to the next one. The context needs `ACCESSIBLE_AT`.
 */
export async function expectAccessibleIn(
  page: Page,
  state: string,
  looks: readonly Look[] = LOOKS,
  arrange: () => Promise<void> = async () => {},
): Promise<void> {
  const found: string[] = []
  for (const [width, colorScheme] of looks) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    await arrange()
    const wide = (await page.evaluate(RUN_OVERFLOW)) as readonly string[]
    for (const one of [...wide, ...(await violationsOf(page))]) found.push(`${width} ${colorScheme} ${one}`)
  }
  await page.setViewportSize(ACCESSIBLE_AT.viewport)
  await page.emulateMedia({ colorScheme: 'light' })
  expect.soft(found, state).toEqual([])
}

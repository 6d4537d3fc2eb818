/**
 * `first-page-child.mjs <browser> <url> <small text> <path>`: milliseconds from the navigation until a row is visible, for
 * each of twenty loads in contexts of their own, so that none has a warm cache.
 */
import { chromium } from 'playwright-core'

const LOADS = 20
const [executablePath, url, smallText, path] = process.argv.slice(2)
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
const times = []
for (let load = 0; load < LOADS; load++) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } })
  // The browser starts a process for the first page of a site, which is not the page's time.
  await page.goto(url + smallText)
  const startedAt = performance.now()
  await page.goto(url + path)
  await page.locator('tr.row').first().waitFor()
  times.push(performance.now() - startedAt)
  await page.close()
}
await browser.close()
process.send(times)

/**
 * `first-page-child.mjs <browser> <url> <small text> <path>`: measures the milliseconds from navigation until a row is
 * visible, for twenty loads, each in a new context without a warm cache.
 */
import { chromium } from 'playwright-core'

const LOADS = 20
const [executablePath, url, smallText, path] = process.argv.slice(2)
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
const times = []
for (let load = 0; load < LOADS; load++) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } })
  // The browser starts a process for a site's first page, which must not count.
  await page.goto(url + smallText)
  const startedAt = performance.now()
  await page.goto(url + path)
  await page.locator('tr.row').first().waitFor()
  times.push(performance.now() - startedAt)
  await page.close()
}
await browser.close()
process.send(times)

import { loadavg } from 'node:os'
import type { Page } from './browser.ts'

/** Most rows in the document of a page that is 800 pixels high. */
export const MOST_ROWS = 35

/** Scripts that run in the page. Strings, since the tests have no DOM types. */
const WATCH_ROWS = `new MutationObserver((_, observer) => {
  if (document.querySelector('tr.row') === null) return
  observer.disconnect()
  self.firstRowAt = performance.now()
}).observe(document, { childList: true, subtree: true })`

/** Opens a page, and returns the milliseconds from the start of its navigation to its first row. */
export async function firstRowMs(page: Page, url: string): Promise<number> {
  await page.addInitScript(WATCH_ROWS)
  // Another hash alone would load nothing.
  await page.goto('about:blank')
  await page.goto(url)
  await page.locator('tr.row').first().waitFor()
  return Math.round(Number(await page.evaluate('firstRowAt')))
}

/** Returns the page's heap in KiB after a garbage collection, and the number of its nodes. */
export async function usageOf(page: Page): Promise<{ readonly heap: number; readonly nodes: number }> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const { nodes } = await session.send('Memory.getDOMCounters')
  await session.detach()
  return { heap: Math.round(usedSize / 1024), nodes }
}

/** Prints a figure with the machine's load, which no test judges. */
export function say(figure: string): void {
  process.stdout.write(`${figure} (load ${loadavg()[0]?.toFixed(1)})\n`)
}

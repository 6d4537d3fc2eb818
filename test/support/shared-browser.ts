import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { type Browser, type BrowserContext, launchBrowser, openPage, type Page } from './browser.ts'

export type ContextOptions = Parameters<Browser['newContext']>[0]

export interface SharedBrowser {
  /** A context of its own for a test, closed at its end. */
  contextWith(options?: ContextOptions): Promise<BrowserContext>
  /** Opens a page, and expects at the end of the test that nothing went wrong on it but what `allowed` names. */
  open(url: string, context?: BrowserContext, allowed?: RegExp): Promise<Page>
}

/** One browser for the tests of a file, which calls this at its top. */
export function sharedBrowser(): SharedBrowser {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser.close())
  const contextWith = async (options: ContextOptions = {}) => {
    const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options })
    onTestFinished(() => context.close())
    return context
  }
  return {
    contextWith,
    async open(url, context, allowed = /^never$/) {
      const { page, problems } = await openPage(context ?? (await contextWith()), url)
      onTestFinished(() => expect(problems.filter(problem => !allowed.test(problem))).toEqual([]))
      return page
    },
  }
}

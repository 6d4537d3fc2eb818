import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { type Browser, type BrowserContext, launchBrowser, openPage, type Page } from './browser.ts'

export type ContextOptions = Parameters<Browser['newContext']>[0]

export interface SharedBrowser {
  /** Creates a context for a test, closed at its end. */
  contextWith(options?: ContextOptions): Promise<BrowserContext>
  /** Opens a page. At the end of the test, expects no problems on it except those that `allowed` matches. */
  open(url: string, context?: BrowserContext, allowed?: RegExp): Promise<Page>
}

/** Shares one browser between a file's tests. Called at the top of the file. */
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

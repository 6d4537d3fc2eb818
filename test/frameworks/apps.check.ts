import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { post } from './behavior.ts'
import { type App, runProgram, startApp } from './start-app.ts'

const NEXT = '../node_modules/next/dist/bin/next'
const VITE = '../node_modules/vite/bin/vite.js'
const PATIENT = { timeout: 20_000 }
const BUILD = 180_000

/** Declares tests of a whole app, from the view of its sender and its operator. */
function handlesOnce(path: string, start: () => Promise<App>): void {
  let app: App

  beforeAll(async () => {
    app = await start()
  }, BUILD)
  afterAll(() => app?.stop())

  it('handles a delivery once, with the exact bytes, and recognizes its repetition', async () => {
    const url = app.origin + path
    expect(await post(url)).toEqual([202, 'accepted'])
    await expect.poll(() => app.output(), PATIENT).toContain('handled evt_1')
    expect(await post(url)).toEqual([200, 'duplicate'])
    expect(app.output().match(/handled evt_1/g)).toHaveLength(1)
  })

  it('accepts a body of 900 kB', async () => {
    const large = { id: 'evt_large', note: 'é'.repeat(450_000) }
    expect(await post(app.origin + path, undefined, large)).toEqual([202, 'accepted'])
  })

  it('refuses a forged event, and the framework prints no warnings', async () => {
    expect(await post(app.origin + path, 'whsec_somebody_elses_secret')).toEqual([401, 'unauthorized'])
    expect(app.output()).not.toMatch(/API (?:resolved|handler|route)|stalled|⚠|⨯/)
  })
}

// Both run one after the other, because they use the app's folder.
describe('an API route of Next.js, in its development server', () => {
  handlesOnce('/api/webhooks', () => startApp('nextjs', NEXT, 'dev'))
})

describe('an API route of Next.js, built and started', () => {
  handlesOnce('/api/webhooks', async () => {
    await runProgram('nextjs', NEXT, 'build')
    return startApp('nextjs', NEXT, 'start')
  })
})

describe('SvelteKit with its Node adapter, built and started', () => {
  handlesOnce('/webhooks', async () => {
    await runProgram('sveltekit', VITE, 'build')
    return startApp('sveltekit', 'build')
  })
})

import { describe, expect, it, onTestFinished } from 'vitest'
import { post } from './behavior.ts'
import { startApp } from './start-app.ts'

const PATIENT = { timeout: 20_000 }

describe.each([
  ['NestJS, whose own hooks call it', ['nest.mjs'], 'SIGTERM'],
  ['NestJS without its own hooks', ['nest.mjs', 'alone'], 0],
  ['close-with-grace, which calls it', ['grace.mjs'], 0],
] as const)('a graceful shutdown with %s', (_, args, code) => {
  it('turns readiness off, accepts events for a grace period, handles them and ends the process', async () => {
    const app = await startApp('shutdown', ...args)
    onTestFinished(() => app.stop())
    const ready = async () => (await fetch(`${app.origin}/health/ready`)).status
    const url = `${app.origin}/webhooks`
    await expect.poll(ready, PATIENT).toBe(200)
    expect(await post(url)).toEqual([202, 'accepted'])
    await expect.poll(() => app.output(), PATIENT).toContain('began evt_1')
    app.signal('SIGTERM')
    await expect.poll(ready, PATIENT).toBe(503)
    expect(await post(url, undefined, { id: 'evt_2' })).toEqual([202, 'accepted'])
    expect(await app.ended).toBe(code)
    expect(app.output()).toContain('handled evt_1')
    expect(app.output()).toContain('handled evt_2')
  })
})

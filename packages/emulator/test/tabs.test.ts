import { expect, it, onTestFinished, vi } from 'vitest'
import { type Page, type Request, setVisibility } from '../../../test/support/browser.ts'
import { inFull } from '../../../test/support/in-full.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import { startEmulatedApp } from './emulated-app.ts'

const { contextWith, open } = sharedBrowser()

/** More than the six connections that a browser allows a host. */
const TABS = inFull(10, 7)

const isLive = (page: Page) => page.getByText('live', { exact: true }).waitFor()

// On a busy machine a tab takes five seconds to open, and as much to show what arrives.
it('ten tabs share one stream, pass it on when its tab closes, and let go of it when they are hidden', {
  timeout: 180_000,
}, async () => {
  const { emulator, close } = await startEmulatedApp()
  onTestFinished(close)
  const context = await contextWith()
  const streams = new Set<Request>()
  // A closed page does not report the end of its requests.
  const openStreams = () => [...streams].filter(request => !request.frame().page().isClosed()).length
  context.on('request', request => void (request.url().endsWith('/stream') && streams.add(request)))
  context.on('requestfinished', request => void streams.delete(request))
  context.on('requestfailed', request => void streams.delete(request))
  const openTab = async () => {
    const page = await open(emulator.url, context)
    await isLive(page)
    return page
  }
  // The first one has the stream.
  const pages = [await openTab()]
  pages.push(...(await Promise.all(Array.from({ length: TABS - 1 }, openTab))))
  expect(openStreams()).toBe(1)
  const shows = async (id: string, some: readonly Page[]) => {
    await emulator.api.send('conversation.resolved', { id })
    for (const page of some)
      await page.getByRole('row', { name: new RegExp(`acknowledged.*${id}`) }).waitFor()
  }
  await shows('evt_first', pages)
  await pages[0]?.close()
  const others = pages.slice(1)
  await vi.waitFor(() => expect(openStreams()).toBe(1))
  await shows('evt_second', others)
  for (const page of others) await page.evaluate(setVisibility('hidden'))
  await vi.waitFor(() => expect(openStreams()).toBe(0))
  await emulator.api.send('conversation.resolved', { id: 'evt_unseen' })
  await emulator.wait()
  // What a tab has missed while all were hidden comes when one is seen again.
  for (const page of others.slice(3)) await page.evaluate(setVisibility('visible'))
  for (const page of others) await page.getByRole('row', { name: /acknowledged.*evt_unseen/ }).waitFor()
  expect(openStreams()).toBe(1)
  await shows('evt_third', others)
})

import { fakeClock } from '@ackhook/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { keepPicture } from '../../../test/support/pictures.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import { startEmulatedApp } from './emulated-app.ts'

const { contextWith, open } = sharedBrowser()
const TYPES = ['conversation.resolved', 'message.delivered', 'message.received', 'call.missed'] as const

/** Faults of the deliveries, by number. The last ones stand above the others. */
const FAULTS: Readonly<Record<number, object>> = {
  9: { duplicate: true },
  22: { lostReply: true },
  31: { duplicate: true },
  52: { duplicate: true },
  55: { lostReply: true },
}
const REFUSED = 57

it('pictures deliveries that were refused, sent twice and lost', async () => {
  const clock = fakeClock(Date.now() - 60 * 60_000)
  const app = await startEmulatedApp({ clock, delivery: { attempts: 3, minDelay: '20s', maxDelay: '1m' } })
  onTestFinished(() => app.close())
  const { api } = app.emulator
  let refused: string | undefined
  for (let n = 0; n < 60; n++) {
    if (n === 15 || n === 16 || n === 54) app.next.push(503)
    app.status = n === REFUSED || n === REFUSED + 1 ? 401 : undefined
    for (let of = 0; of < 1 + ((n * 7) % 5); of++) {
      const type = TYPES[(n + of) % TYPES.length] ?? TYPES[0]
      const id = `evt_01k8x${(4096 + n * 8 + of).toString(36)}`
      const [sent] = await api.sendAll([{ type, id }], { faults: of === 0 ? (FAULTS[n] ?? {}) : {} })
      if (n === REFUSED) refused ??= sent?.deliveries[0]?.id
    }
    await api.clock.advance('1m')
  }
  const context = await contextWith({ viewport: { width: 1400, height: 860 } })
  const page = await open(app.emulator.url, context)
  await page.locator('tr.row').first().waitFor()
  await page.locator('.plot canvas').waitFor()
  await vi.waitFor(async () => expect(await page.locator('tr.row').count()).toBeGreaterThan(10))
  await keepPicture(page, 'emulator-deliveries', "The emulator's deliveries")
  await page.goto(`${app.emulator.url}/#/deliveries/${refused}`)
  await page.getByText('Most often the two sides have different secrets').first().waitFor()
  await keepPicture(page, 'emulator-delivery', 'A delivery of the emulator')
})

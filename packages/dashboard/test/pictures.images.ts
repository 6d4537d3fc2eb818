import { fileURLToPath } from 'node:url'
import { createReceiver } from '@ackhook/core'
import { signedRequest } from '@ackhook/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Page } from '../../../test/support/browser.ts'
import { listen } from '../../../test/support/listen.ts'
import { Clip, keepPicture } from '../../../test/support/pictures.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import { dashboard } from '../src/node.ts'

const { contextWith, open } = sharedBrowser()
const SECRET = 'whsec_pictures_0123456789'
const HERE = fileURLToPath(new URL('.', import.meta.url))
const SIZE = { width: 1120, height: 720 }
const MINUTES = 50
const DEPLOYED_AT = 40

interface Resolved {
  readonly contact?: { readonly email: string }
}

/** Resolves after 20 to 120 ms, as a handler's query would. */
const query = (n: number) => new Promise(resolve => setTimeout(resolve, 20 + ((n * 37) % 100)))

/** An app whose last deployment broke one of its three handlers, ten minutes ago. */
async function brokenApp() {
  const start = Date.now() - MINUTES * 60_000
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'performance'], now: start })
  onTestFinished(() => void vi.useRealTimers())
  const receiver = createReceiver({
    secret: SECRET,
    clock: () => Date.now(),
    retry: { attempts: 1 },
    logger: { info() {}, warn() {}, error() {} },
  })
  onTestFinished(async () => void (await receiver.close({ timeout: '2s' })))
  const app = { receiver, isBroken: false, id: 0 }
  receiver.on('message.received', () => query(app.id))
  receiver.on('message.delivered', () => query(app.id * 3))
  receiver.on('conversation.resolved', async function sendSurvey({ data }) {
    const { contact } = data as Resolved
    await query(app.id * 7)
    return app.isBroken ? (contact as { email: string }).email.trim() : contact?.email.trim()
  })
  const send = async (type: string, data: object) => {
    const id = `evt_01k8x${(4096 + app.id++).toString(36)}`
    const event = { id, type, created_at: new Date().toISOString(), data }
    expect((await receiver.handle(signedRequest(event, { secret: SECRET }))).status).toBe(202)
  }
  for (let minute = 0; minute < MINUTES; minute++) {
    app.isBroken = minute >= DEPLOYED_AT
    for (let n = 0; n < 6 + ((minute * 7) % 5); n++) {
      await send('message.received', { conversation_id: `cnv_${minute}`, text: 'Where is my order?' })
      await send('message.delivered', { conversation_id: `cnv_${minute}`, message_id: `msg_${minute}_${n}` })
    }
    for (let n = 0; n < 8; n++)
      await send('conversation.resolved', { conversation_id: `cnv_${minute}${n}`, resolved_by: 'ai' })
    // By the end of a minute its figures are in the inbox.
    await vi.advanceTimersByTimeAsync(60_000)
  }
  expect(await receiver.stats()).toMatchObject({ pending: 0, active: 0, dead: 80 })
  vi.useRealTimers()
  return app
}

async function serve({ receiver }: Awaited<ReturnType<typeof brokenApp>>): Promise<string> {
  // The folder of this machine is nobody's business.
  const redact = (text: string) =>
    text.replaceAll(HERE, '/app/src/').replaceAll('pictures.images.ts', 'app.ts')
  const pages = dashboard({ receiver, authorize: () => 'admin', bodies: true, redact })
  return `${await listen(pages)}/ops/webhooks/`
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

it('pictures a failure that is understood and mended', { timeout: 120_000 }, async () => {
  const app = await brokenApp()
  const context = await contextWith({ viewport: SIZE, deviceScaleFactor: 1.25 })
  const page = await open(await serve(app), context)
  await page.locator('.verdict.bad').waitFor()
  await page.locator('.plot canvas').first().waitFor()
  await page.setViewportSize({ ...SIZE, height: 900 })
  await keepPicture(page, 'dashboard-overview', 'The overview of the dashboard')
  await page.setViewportSize(SIZE)
  const clip = new Clip(page)
  const letters = page.getByRole('link', { name: /^Dead letters\s*80$/ })
  await clip.step('Ten minutes after a deployment: one type of event fails.', 2.5, letters)
  await page.locator('tr.row').first().waitFor()
  const card = page.getByRole('region', { name: 'By error' }).getByRole('listitem').first()
  const stack = card.getByText('Stack', { exact: true })
  await keepPicture(page, 'dashboard-letters', 'The dead letters of the dashboard')
  await clip.step('One error, 80 events.', 2.5, stack)
  await card.getByText('sendSurvey').waitFor()
  await clip.step('The stack names the line. You mend it, and deploy.', 3, button(page, 'Redrive 80 …'))
  app.isBroken = false
  await page.getByRole('heading', { name: /^Redrive all 80 letters/ }).waitFor()
  await clip.step('Run exactly these again.', 2, button(page, 'Redrive 80 letters'))
  await page.getByText('80 redriven: 80 handled.').waitFor()
  await page.getByRole('heading', { name: 'No dead letters' }).waitFor()
  // Without their counts, which follow a moment later.
  for (const name of ['Dead letters', 'Pending', 'Active'])
    await page.getByRole('link', { name, exact: true }).waitFor()
  await clip.step('All 80 are handled.', 2, page.getByRole('link', { name: 'Overview' }))
  await page.locator('.verdict.good').waitFor()
  await page.locator('.plot canvas').first().waitFor()
  await clip.step('Nothing is lost.', 3)
  clip.keep(
    'failure',
    'Eighty events fail after a deployment. The dashboard shows the error and its line. After a fix they are run again, and all are handled.',
    1,
  )
})

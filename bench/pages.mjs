// Measures the pages in headless Chromium: how soon 100,000 deliveries and 100,000 dead letters appear, how smoothly the
// deliveries scroll, and whether the page keeps up with 1,000 events per second. `node bench/pages.mjs [seconds]`
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReceiver, NonRetryableError } from '@ackhook/core'
import { dashboard } from '@ackhook/dashboard/node'
import { startEmulator } from '@ackhook/emulator'
import { sqliteInbox } from '@ackhook/sqlite'
import { signedRequest } from '@ackhook/testing'
import { chromium } from 'playwright-core'
import { geometricInterval } from './lib/interval.mjs'
import { measureInProcess } from './lib/measure-in-process.mjs'
import { percentile } from './lib/percentile.mjs'
import { median } from './lib/rounds.mjs'

const SECONDS = Number(process.argv[2] ?? 30)
const ROWS = 100_000
const PER_SECOND = 1000
const BATCH = 100
const SECRET = 'whsec_bench_0123456789'
const EVENT = { type: 'conversation.resolved', created_at: '2026-11-22T00:00:00Z', data: {} }
const VIEWPORT = { width: 1200, height: 800 }
const FIRST_PAGE = new URL('pages/first-page-child.mjs', import.meta.url)

const sink = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(202).end())
}).listen(0, '127.0.0.1')
await new Promise(resolve => sink.once('listening', resolve))
const to = `http://127.0.0.1:${sink.address().port}/`
const executablePath = findBrowser()
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })

await withEmulator(measureDeliveries)
await measureLetters()
await withEmulator(measureTail)
await browser.close()
sink.close()

/** Measures 100,000 deliveries: the first page, and scrolling through the loaded rows. */
async function measureDeliveries(emulator, page) {
  await emulator.api.endpoints.pause()
  for (let sent = 0; sent < ROWS; sent += 1000) await send(emulator, 1000)
  await measureFirstPage('deliveries', emulator.url, '/_emulator/v1/health')
  await page.goto(emulator.url)
  await page.locator('tr.row').first().waitFor()
  const frames = await page.evaluate(SCROLL)
  print('frames while scrolling 5 s', describe(frames))
  print('rows in the document', await page.locator('tr.row').count())
}

/** Measures the first page of 100,000 dead letters on SQLite. */
async function measureLetters() {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-pages-'))
  const inbox = sqliteInbox(join(folder, 'inbox.db'))
  const receiver = createReceiver({ secret: SECRET, inbox, logger: { info() {}, warn() {}, error() {} } })
  receiver.on('*', () => {
    throw new NonRetryableError('refused')
  })
  for (let sent = 0; sent < ROWS; sent += BATCH) {
    const ids = Array.from({ length: BATCH }, (_, n) => `evt_${sent + n}`)
    await Promise.all(ids.map(id => receiver.handle(signedRequest({ ...EVENT, id }, { secret: SECRET }))))
  }
  while ((await receiver.stats()).dead < ROWS) await new Promise(resolve => setTimeout(resolve, 100))
  const server = createServer(dashboard({ receiver, authorize: () => 'admin' })).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  await measureFirstPage(
    'dead letters',
    `http://127.0.0.1:${server.address().port}`,
    '/api/overview',
    '/#/letters',
  )
  server.closeAllConnections()
  server.close()
  await receiver.close()
  rmSync(folder, { recursive: true })
}

/** Drives the browser from another process, so that it does not delay the server in this one. */
async function measureFirstPage(rows, url, smallText, path = '/') {
  const times = await measureInProcess(FIRST_PAGE, [executablePath, url, smallText, path])
  const { low, high } = geometricInterval(times)
  const [middle, from, to, first] = [median(times), low, high, times[0]].map(time => time.toFixed(0))
  print(
    `first page of 100,000 ${rows}`,
    `${middle} ms (${from} to ${to}) of ${times.length} loads; the first, ${first} ms`,
  )
}

/** Measures a live tail: time between paints, and the heap at the beginning and the end. */
async function measureTail(emulator, page) {
  await page.goto(emulator.url)
  await page.getByText('live', { exact: true }).waitFor()
  const sending = (async () => {
    const end = performance.now() + SECONDS * 1000
    for (let next = performance.now(); next < end; next += (BATCH / PER_SECOND) * 1000) {
      await send(emulator, BATCH)
      await new Promise(resolve => setTimeout(resolve, Math.max(0, next - performance.now())))
    }
  })()
  const before = await heapOf(page)
  const frames = await page.evaluate(FRAMES, SECONDS * 1000)
  await sending
  print(`frames during ${SECONDS} s at ${PER_SECOND} events/s`, describe(frames))
  print('heap of the page before and after', `${before.toFixed(1)} and ${(await heapOf(page)).toFixed(1)} MB`)
  print('rows in the document', await page.locator('tr.row').count())
}

async function withEmulator(measure) {
  const emulator = await startEmulator({ port: 0, to, secret: SECRET })
  const page = await browser.newPage({ viewport: VIEWPORT })
  await measure(emulator, page)
  await page.close()
  await emulator.close()
}

async function send(emulator, count) {
  await emulator.api.sendAll(Array.from({ length: count }, () => ({ type: 'conversation.resolved' })))
}

async function heapOf(page) {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize / 1024 / 1024
}

function describe(frames) {
  const at = share => percentile(frames, share).toFixed(1)
  return `${frames.length}, p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${Math.max(...frames).toFixed(1)} ms`
}

function print(name, value) {
  process.stdout.write(`${name.padEnd(44)} ${value}\n`)
}

/** Finds any of these browsers. The tests install the first from Debian's packages. */
function findBrowser() {
  const names = ['chromium-headless-shell', 'chromium', 'google-chrome']
  const folders = (process.env.PATH ?? '').split(':')
  const found = names.flatMap(name => folders.map(folder => `${folder}/${name}`)).find(existsSync)
  if (found === undefined) throw new Error(`This needs a browser: ${names.join(', ')}`)
  return found
}

/** Runs in the page and measures the time between paints. */
function FRAMES(durationMs) {
  return new Promise(resolve => {
    const frames = []
    const end = performance.now() + durationMs
    let last = performance.now()
    requestAnimationFrame(function paint() {
      const now = performance.now()
      frames.push(now - last)
      last = now
      if (now < end) requestAnimationFrame(paint)
      else resolve(frames)
    })
  })
}

function SCROLL() {
  return new Promise(resolve => {
    const frame = document.querySelector('.table-frame')
    const frames = []
    const end = performance.now() + 5000
    let last = performance.now()
    requestAnimationFrame(function paint() {
      const now = performance.now()
      frames.push(now - last)
      last = now
      frame.scrollBy(0, 400)
      if (now < end) requestAnimationFrame(paint)
      else resolve(frames)
    })
  })
}

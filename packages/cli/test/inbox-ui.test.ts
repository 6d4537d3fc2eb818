import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createReceiver, NonRetryableError } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { createEvent, testReceiver } from '@ackhook/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { launchBrowser, openPage } from '../../../test/support/browser.ts'
import { withFolder } from '../../sqlite/test/start-inbox.ts'
import { startProcess } from './cli-process.ts'
import { deliverPatiently } from './deliver-patiently.ts'
import { runCli, SECRET, startCli } from './run-cli.ts'

const logger = { info() {}, warn() {}, error() {} }

/** Starts an app with one dead letter in a file, which keeps running. */
async function appWithLetter(file: string) {
  const handled: string[] = []
  let broken = true
  const receiver = createReceiver({ secret: SECRET, inbox: sqliteInbox(file), logger })
  receiver.on('*', event => {
    if (broken) throw new NonRetryableError('the CRM refused')
    handled.push(event.id)
  })
  onTestFinished(async () => void (await receiver.close()))
  await deliverPatiently(testReceiver(receiver, { secret: SECRET }), createEvent('a.b', { id: 'evt_1' }))
  await vi.waitFor(async () => expect((await receiver.stats()).dead).toBe(1))
  const repair = (): void => {
    broken = false
  }
  return { handled, repair }
}

async function startUi(args: readonly string[], start: typeof startCli = startCli) {
  const cli = start(['inbox', 'ui', '--port', '0', '--json', ...args])
  onTestFinished(async () => {
    cli.stop()
    await cli.ended
  })
  const { listening: at, token } = JSON.parse(await cli.line(/listening/)) as {
    listening: string
    token: string
  }
  const get = (path = '', init: RequestInit = {}) =>
    fetch(at + path, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } })
  return { cli, at, token, get }
}

type Get = Awaited<ReturnType<typeof startUi>>['get']

const post = (keys: readonly string[]) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-ackhook': '1' },
  body: JSON.stringify({ keys }),
})

async function lettersOf(get: Get) {
  const { events } = (await (await get('/api/letters')).json()) as {
    events: { id: string; key: string; reason: string }[]
  }
  return events
}

test("serves the pages of a running app's inbox, and redrives there", async () => {
  await withFolder(async folder => {
    const file = join(folder, 'webhooks.db')
    const { handled, repair } = await appWithLetter(file)
    const { cli, get } = await startUi(['--sqlite', file], startProcess)
    expect(await (await get()).text()).toContain('Ackhook dashboard')
    const [letter] = await lettersOf(get)
    expect(letter).toMatchObject({ id: 'evt_1', reason: 'NonRetryableError: the CRM refused' })
    expect(await (await get(`/api/overview`)).json()).toMatchObject({
      role: 'admin',
      stats: { dead: 1 },
    })
    repair()
    const reply = await get(`/api/verbs/redrive`, post([letter?.key ?? '']))
    expect(await reply.json()).toMatchObject({ verb: 'redrive' })
    await vi.waitFor(() => expect(handled).toEqual(['evt_1']), 10_000)
    cli.stop()
    expect((await cli.ended).code).toBe(0)
  })
})

test('changes nothing with --read-only, and shows no bodies without --bodies or an emulator without --emulator', async () => {
  await withFolder(async folder => {
    const file = join(folder, 'webhooks.db')
    await appWithLetter(file)
    const { get } = await startUi(['--sqlite', file, '--read-only'])
    const [letter] = await lettersOf(get)
    expect((await get(`/api/verbs/discard`, post([letter?.key ?? '']))).status).toBe(403)
    expect(await (await get(`/api/letters/${letter?.key}`)).json()).not.toHaveProperty('body')
    expect(await (await get(`/api/overview`)).json()).not.toHaveProperty('emulatorUrl')
    const open = await startUi(['--sqlite', file, '--bodies', '--emulator', 'http://localhost:4400'])
    expect(await (await open.get(`/api/letters/${letter?.key}`)).json()).toHaveProperty('body')
    expect(await (await open.get(`/api/overview`)).json()).toMatchObject({
      emulatorUrl: 'http://localhost:4400/',
    })
  })
})

describe('another user of the machine', () => {
  test('sees and changes nothing without the token', async () => {
    await withFolder(async folder => {
      const file = join(folder, 'webhooks.db')
      await appWithLetter(file)
      const { at, token, get } = await startUi(['--sqlite', file])
      const [letter] = await lettersOf(get)
      const cookie = `ackhook-ui-${new URL(at).port}=${token}`
      for (const headers of [
        {},
        { authorization: 'Bearer ' },
        { authorization: `Bearer ${token.slice(1)}` },
        { authorization: token },
        { cookie: cookie.slice(0, -1) },
        { cookie: `x-${cookie}` },
        { cookie: `ackhook-ui-1=${token}` },
      ]) {
        for (const path of [
          '/',
          '/?token=',
          '/?token=undefined',
          '/api/letters',
          '/api/letters?token=x',
          '/none',
        ]) {
          const reply = await fetch(at + path, { headers, redirect: 'manual' })
          expect([headers, path, reply.status]).toEqual([headers, path, 401])
          expect(await reply.text()).not.toContain(token)
        }
        const change = post([letter?.key ?? ''])
        const changed = await fetch(`${at}/api/verbs/discard`, {
          ...change,
          headers: { ...change.headers, ...headers },
        })
        expect(changed.status).toBe(401)
      }
      expect(await lettersOf(get)).toHaveLength(1)
    })
  })

  test('cannot end the command by a request target that is no address', async () => {
    await withFolder(async folder => {
      const file = join(folder, 'webhooks.db')
      await appWithLetter(file)
      const { at, get } = await startUi(['--sqlite', file])
      const { host, port } = new URL(at)
      const socket = connect(Number(port), '127.0.0.1')
      socket.end(`GET http://[ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 40/)
      expect((await get()).status).toBe(200)
    })
  })
})

test('the printed address opens the page once, and the browser keeps a cookie of its session', async () => {
  await withFolder(async folder => {
    const file = join(folder, 'webhooks.db')
    await appWithLetter(file)
    const cli = startCli(['inbox', 'ui', '--port', '0', '--sqlite', file])
    onTestFinished(async () => {
      cli.stop()
      await cli.ended
    })
    const [printed = ''] = /http:\S+/.exec(await cli.line(/The inbox is at/)) ?? []
    const browser = await launchBrowser()
    onTestFinished(() => browser.close())
    const context = await browser.newContext()
    const { page, problems } = await openPage(context, printed)
    await page.getByText('the CRM refused').first().waitFor()
    expect(page.url()).not.toContain('token')
    const [cookie] = await context.cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', expires: -1 })
    await page.reload()
    await page.getByText('the CRM refused').first().waitFor()
    expect(problems).toEqual([])
  })
})

test("accepts only loopback's host names", async () => {
  await withFolder(async folder => {
    const file = join(folder, 'webhooks.db')
    await appWithLetter(file)
    const { at, token } = await startUi(['--sqlite', file])
    const headers = { authorization: `Bearer ${token}` }
    const { port } = new URL(at)
    const statusFor = (host: string) =>
      new Promise(resolve => {
        request(`${at}/api/letters`, { headers: { ...headers, host } }, reply =>
          resolve(reply.resume().statusCode),
        ).end()
      })
    expect(await statusFor(`localhost:${port}`)).toBe(200)
    for (const host of [`evil.test:${port}`, 'localhost', `127.0.0.1:${Number(port) + 1}`])
      expect([host, await statusFor(host)]).toEqual([host, 403])
  })
})

test('links events to their traces at --trace-url', async () => {
  await withFolder(async folder => {
    const file = join(folder, 'webhooks.db')
    await appWithLetter(file)
    const traceUrl = 'http://localhost:16686/trace/{traceId}'
    const { get } = await startUi(['--sqlite', file, '--trace-url', traceUrl])
    expect(await (await get(`/api/overview`)).json()).toMatchObject({ traceUrl })
    const { code, err } = await runCli(['inbox', 'ui', '--sqlite', file, '--trace-url', 'localhost'])
    expect(code).toBe(2)
    expect(err).toMatch(/--trace-url: must be an http or https address that contains \{traceId\}/)
  })
})

test('a file that does not exist is an error at once', async () => {
  const { code, err } = await runCli(['inbox', 'ui', '--sqlite', 'none.db'])
  expect(code).toBe(2)
  expect(err).toContain('there is no database none.db')
})

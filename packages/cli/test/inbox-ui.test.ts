import { request } from 'node:http'
import { join } from 'node:path'
import { createReceiver, NonRetryableError } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { createEvent, testReceiver } from '@ackhook/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
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
  const { listening } = JSON.parse(await cli.line(/listening/)) as { listening: string }
  return { cli, at: listening }
}

const post = (keys: readonly string[]) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-ackhook': '1' },
  body: JSON.stringify({ keys }),
})

async function lettersAt(at: string) {
  const { events } = (await (await fetch(`${at}/api/letters`)).json()) as {
    events: { id: string; key: string; reason: string }[]
  }
  return events
}

test("serves the pages of a running app's inbox, and redrives there", async () => {
  await withFolder(async folder => {
    const file = join(folder, 'webhooks.db')
    const { handled, repair } = await appWithLetter(file)
    const { cli, at } = await startUi(['--sqlite', file], startProcess)
    expect(await (await fetch(at)).text()).toContain('Ackhook dashboard')
    const [letter] = await lettersAt(at)
    expect(letter).toMatchObject({ id: 'evt_1', reason: 'NonRetryableError: the CRM refused' })
    expect(await (await fetch(`${at}/api/overview`)).json()).toMatchObject({
      role: 'admin',
      stats: { dead: 1 },
    })
    repair()
    const reply = await fetch(`${at}/api/letters/redrive`, post([letter?.key ?? '']))
    expect(await reply.json()).toMatchObject({ changed: 1, missed: 0 })
    await vi.waitFor(() => expect(handled).toEqual(['evt_1']), 10_000)
    cli.stop()
    expect((await cli.ended).code).toBe(0)
  })
})

test('changes nothing with --read-only, and shows no bodies without --bodies or an emulator without --emulator', async () => {
  await withFolder(async folder => {
    const file = join(folder, 'webhooks.db')
    await appWithLetter(file)
    const { at } = await startUi(['--sqlite', file, '--read-only'])
    const [letter] = await lettersAt(at)
    expect((await fetch(`${at}/api/letters/discard`, post([letter?.key ?? '']))).status).toBe(403)
    expect(await (await fetch(`${at}/api/letters/${letter?.key}`)).json()).not.toHaveProperty('body')
    expect(await (await fetch(`${at}/api/overview`)).json()).not.toHaveProperty('emulatorUrl')
    const open = await startUi(['--sqlite', file, '--bodies', '--emulator', 'http://localhost:4400'])
    expect(await (await fetch(`${open.at}/api/letters/${letter?.key}`)).json()).toHaveProperty('body')
    expect(await (await fetch(`${open.at}/api/overview`)).json()).toMatchObject({
      emulatorUrl: 'http://localhost:4400/',
    })
  })
})

test("accepts only loopback's host names", async () => {
  await withFolder(async folder => {
    const file = join(folder, 'webhooks.db')
    await appWithLetter(file)
    const { at } = await startUi(['--sqlite', file])
    const { port } = new URL(at)
    const statusFor = (host: string) =>
      new Promise(resolve => {
        request(`${at}/api/letters`, { headers: { host } }, reply => resolve(reply.resume().statusCode)).end()
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
    const { at } = await startUi(['--sqlite', file, '--trace-url', traceUrl])
    expect(await (await fetch(`${at}/api/overview`)).json()).toMatchObject({ traceUrl })
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

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createReceiver, NonRetryableError } from '@ackhook/core'
import { type Emulator, startEmulator } from '@ackhook/emulator'
import { ROUTES } from '@ackhook/emulator/routes'
import { sqliteInbox } from '@ackhook/sqlite'
import { createEvent, testReceiver } from '@ackhook/testing'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, expect, test } from 'vitest'
import { withFolder } from '../../sqlite/test/start-inbox.ts'
import { deliverPatiently } from './deliver-patiently.ts'
import { type ReceivingServer, startReceiver } from './receiving-server.ts'
import { SECRET } from './run-cli.ts'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const logger = { info() {}, warn() {}, error() {} }

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** Connects as a coding agent does: the SDK's client starts the command as a process. */
async function connect(...args: string[]) {
  const client = new Client({ name: 'tests', version: '1.0.0' })
  const transport = new StdioClientTransport({ command: process.execPath, args: [MAIN, 'mcp', ...args] })
  await client.connect(transport)
  stops.push(() => client.close())
  const names = async () => (await client.listTools()).tools.map(({ name }) => name).sort()
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name, arguments: args })
    const [{ text = '' } = {}] = result.content as { text?: string }[]
    return { isError: result.isError === true, text, value: result.isError ? undefined : JSON.parse(text) }
  }
  return { client, names, call }
}

async function emulating(): Promise<{ emulator: Emulator; receiver: ReceivingServer }> {
  const receiver = await startReceiver(SECRET)
  stops.push(() => receiver.close())
  const emulator = await startEmulator({ port: 0, to: receiver.url, secret: SECRET })
  stops.push(() => emulator.close())
  return { emulator, receiver }
}

/** Writes a database with dead letters, which no process then has open. */
async function deadLetters(path: string, ...ids: string[]): Promise<void> {
  const inbox = sqliteInbox(path)
  const receiver = createReceiver({ secret: SECRET, inbox, logger })
  receiver.on('*', () => {
    throw new NonRetryableError('the database is gone')
  })
  const hooks = testReceiver(receiver, { secret: SECRET, timeout: '1m' })
  for (const id of ids)
    await deliverPatiently(hooks, createEvent('order.paid', { id, data: { card: '4111' } }))
  await receiver.close()
}

test('offers only tools that read, unless writing is allowed', async () => {
  await withFolder(async folder => {
    const path = join(folder, 'webhooks.db')
    await deadLetters(path, 'evt_1')
    const { client, names } = await connect('--sqlite', path)
    const { tools } = await client.listTools()
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true)
    expect(await names()).toContain('inbox_groups')
    const all = await connect('--sqlite', path, '--allow-write')
    const added = (await all.names()).filter(name => !tools.some(tool => tool.name === name))
    expect(added).toEqual([
      'emulator_post_deliveries_discard',
      'emulator_post_deliveries_id_discard',
      'emulator_post_deliveries_id_replay',
      'emulator_post_deliveries_id_retry',
      'emulator_post_deliveries_replay',
      'emulator_post_events',
      'emulator_put_faults',
      'inbox_discard',
      'inbox_redrive',
    ])
    const written = (await all.client.listTools()).tools.filter(({ name }) => added.includes(name))
    expect(written.every(({ annotations }) => annotations?.readOnlyHint === false)).toBe(true)
    const forGood = written.filter(({ annotations }) => annotations?.destructiveHint)
    expect(forGood.map(({ name }) => name).filter(name => !name.endsWith('discard'))).toEqual([])
    expect(written.find(({ name }) => name === 'inbox_discard')?.description).toContain(
      'nothing brings them back',
    )
  })
})

test('describes a call as the API and the command line do', async () => {
  const { client } = await connect('--allow-write')
  const { tools } = await client.listTools()
  const tool = (name: string) => tools.find(one => one.name === name)
  expect(tools.some(({ name }) => name.startsWith('inbox_'))).toBe(false)
  expect(tool('emulator_get_deliveries')).toMatchObject({
    description: ROUTES['GET /deliveries'].summary,
    inputSchema: { properties: { state: { enum: expect.arrayContaining(['undelivered']) } } },
  })
  expect(tool('emulator_post_deliveries_id_replay')?.inputSchema).toMatchObject({
    required: ['id'],
    properties: { id: {}, mode: { enum: ['signed', 'exact', 'edited'] } },
  })
  expect(JSON.stringify(tools)).not.toContain('$ref')
})

test('sends an event to the app, finds its delivery, and hides what it contained', async () => {
  const { emulator, receiver } = await emulating()
  const { call } = await connect('--at', emulator.url, '--allow-write')
  const sent = await call('emulator_post_events', {
    events: [{ type: 'order.paid', data: { card: '4111' } }],
  })
  const [{ id, deliveries }] = sent.value.events
  expect((await call('emulator_post_wait', { event: id, state: 'acknowledged' })).value.met).toBe(true)
  expect(receiver.handled.map(event => event.id)).toEqual([id])
  const detail = await call('emulator_get_deliveries_id', { id: deliveries[0].id })
  expect(detail.value).toMatchObject({
    state: 'acknowledged',
    body: expect.stringMatching(/^\(\d+ bytes, shown/),
  })
  expect(detail.text).not.toContain('4111')
  const open = await connect('--at', emulator.url, '--bodies')
  const shown = await open.call('emulator_get_deliveries_id', { id: deliveries[0].id })
  expect(shown.value.body.text).toContain('4111')
  expect(await open.names()).toContain('emulator_get_deliveries_id_request')
})

test('hides what a message says and to whom', async () => {
  const { emulator } = await emulating()
  await emulator.api.messages.receive({ channel: 'whatsapp', from: '+4915112345678', text: 'my pin is 1234' })
  const { call } = await connect('--at', emulator.url)
  const { text, value } = await call('emulator_get_messages')
  expect(value.messages).toMatchObject([{ direction: 'inbound', channel: 'whatsapp' }])
  expect(text).not.toMatch(/4915112345678|1234/)
})

test('returns a refusal as a result that says what to do', async () => {
  const { emulator } = await emulating()
  const { call } = await connect('--at', emulator.url)
  expect(await call('emulator_get_deliveries_id', { id: 'nothing' })).toMatchObject({
    isError: true,
    text: expect.stringContaining('nothing'),
  })
  expect(await call('emulator_get_deliveries', { state: 'lost' })).toMatchObject({ isError: true })
  await emulator.close()
  expect((await call('emulator_get_health')).text).toContain('Start one with npx ackhook emulator start')
})

test('reads dead letters without their bodies, runs one again, and discards another', async () => {
  await withFolder(async folder => {
    const path = join(folder, 'webhooks.db')
    await deadLetters(path, 'evt_1', 'evt_2', '--all')
    const { call } = await connect('--sqlite', path, '--allow-write')
    expect((await call('inbox_stats')).value).toMatchObject({ dead: 3 })
    expect((await call('inbox_groups')).value.groups).toMatchObject([{ type: 'order.paid', count: 3 }])
    const page = await call('inbox_list', { type: 'order.*', limit: 2 })
    expect(page.value.deadLetters).toHaveLength(2)
    const shown = await call('inbox_show', { id: 'evt_1' })
    expect(shown.value).toMatchObject({
      state: 'dead',
      deadLetter: { reason: expect.stringContaining('gone') },
    })
    expect(shown.text).not.toContain('4111')
    expect((await call('inbox_redrive', { ids: ['evt_1'] })).value).toMatchObject({ redriven: 1 })
    // An id that looks like an option is an id.
    expect((await call('inbox_discard', { ids: ['--all'] })).value).toMatchObject({ discarded: 1 })
    expect((await call('inbox_discard', { ids: ['evt_9'] })).value).toMatchObject({
      discarded: 0,
      missing: 1,
    })
    expect((await call('inbox_stats')).value).toMatchObject({ dead: 1, pending: 1 })
    expect(await call('inbox_discard')).toMatchObject({
      isError: true,
      text: expect.stringContaining('give event ids, --all, or a filter'),
    })
  })
})

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
      'inbox_forget',
      'inbox_pause',
      'inbox_redrive',
      'inbox_resume',
    ])
    const written = (await all.client.listTools()).tools.filter(({ name }) => added.includes(name))
    expect(written.every(({ annotations }) => annotations?.readOnlyHint === false)).toBe(true)
    // Handlers may change and reach anything, and the faults in force are lost when they are replaced.
    const mild = written.filter(({ annotations }) => !annotations?.destructiveHint).map(({ name }) => name)
    expect(mild).toEqual(['inbox_pause'])
    const open = written.filter(({ annotations }) => annotations?.openWorldHint).map(({ name }) => name)
    expect(open.sort()).toEqual(added.filter(name => /events|replay|retry|redrive|resume/.test(name)))
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

/** The paths of all text fields of a tool's arguments. */
function textFields(schema: object, path: readonly string[] = []): readonly (readonly string[])[] {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, object>> }
  return Object.entries(properties).flatMap(([name, field]) =>
    'properties' in field
      ? textFields(field, [...path, name])
      : (field as { type?: string }).type === 'object'
        ? []
        : [[...path, name]],
  )
}

const nested = (path: readonly string[], value: unknown): Record<string, unknown> =>
  path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Record<string, unknown>

test('no argument of a tool finds out letter by letter what is hidden', async () => {
  const { emulator } = await emulating()
  await emulator.api.sendAll([{ type: 'order.paid', data: { phone: '+491511234567' } }])
  await emulator.wait()
  await emulator.api.messages.receive({ channel: 'whatsapp', from: '+491511234567', text: 'my pin is 8264' })
  await emulator.wait()
  const [delivery] = (await emulator.api.deliveries.list()).deliveries
  const { client, call } = await connect('--at', emulator.url, '--allow-write')
  const { tools } = await client.listTools()
  let asked = 0
  for (const { name, inputSchema } of tools)
    for (const path of textFields(inputSchema)) {
      const others = {
        ...(inputSchema.required?.includes('id') ? { id: delivery?.id } : {}),
        ...(name.startsWith('emulator_post_deliveries_') ? { dryRun: true } : {}),
        ...(name === 'emulator_post_wait' ? { timeout: '10ms' } : {}),
      }
      if (/post_deliveries_id|post_events|put_faults/.test(name)) continue
      const ask = async (value: string) =>
        (await call(name, { ...others, ...nested(path, value) })).text
          .replaceAll(value, '')
          .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|\d+\.\d{9,}/g, '')
      expect([name, path, await ask('+4915112')]).toEqual([name, path, await ask('+4915113')])
      asked++
    }
  expect(asked).toBeGreaterThan(50)
  expect(await call('emulator_get_deliveries', { text: '+4915112' })).toMatchObject({ isError: true })
  const within = { filter: { text: '+4915112' }, dryRun: true }
  expect(await call('emulator_post_deliveries_replay', within)).toMatchObject({ isError: true })
  const open = await connect('--at', emulator.url, '--bodies')
  expect((await open.call('emulator_get_deliveries', { text: '+4915112' })).value.deliveries).not.toEqual([])
})

test('no tool sends to another address than the endpoints of the emulator', async () => {
  const { emulator, receiver } = await emulating()
  const other = await startReceiver(SECRET)
  stops.push(() => other.close())
  const [sent] = await emulator.api.sendAll([{ type: 'order.paid' }])
  await emulator.wait()
  const { call } = await connect('--at', emulator.url, '--allow-write', '--bodies')
  const id = sent?.deliveries[0]?.id
  for (const [name, args] of [
    ['emulator_post_deliveries_id_replay', { id, to: other.url }],
    ['emulator_post_deliveries_id_replay', { id, mode: 'edited', body: '{"id":"evt_x"}', to: other.url }],
    ['emulator_post_deliveries_replay', { filter: { event: sent?.id }, to: other.url }],
    ['emulator_post_events', { events: [{ type: 'a.b' }], to: other.url }],
  ] as const)
    expect(await call(name, args)).toMatchObject({ isError: true })
  expect((await call('emulator_post_deliveries_id_replay', { id })).isError).toBe(false)
  await emulator.wait()
  expect(receiver.handled).toHaveLength(1)
  expect((await emulator.api.deliveries.list()).deliveries).toHaveLength(2)
  expect([other.handled, other.refusals]).toEqual([[], []])
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
      text: 'give event ids, all, or a filter: type, error, group, olderThan, reason',
    })
    expect((await call('inbox_list', { after: 'zzz' })).text).toMatch(/^after must be the cursor/)
    expect((await call('inbox_redrive', { all: true, rate: 'fast' })).text).toMatch(
      /^rate must be a number of events per second/,
    )
  })
})

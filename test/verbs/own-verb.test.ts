import { join } from 'node:path'
import { createReceiver, memoryInbox } from '@ackhook/core'
import { defineVerb, VERBS, type Verb } from '@ackhook/dashboard/verbs'
import { sqliteInbox } from '@ackhook/sqlite'
import * as v from 'valibot'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inboxTools } from '../../packages/cli/src/mcp/inbox-tools.ts'
import { fakeTerminal } from '../../packages/cli/test/fake-terminal.ts'
import { runCli, SECRET } from '../../packages/cli/test/run-cli.ts'
import { dashboard } from '../../packages/dashboard/src/node.ts'
import type { VerbList } from '../../packages/dashboard/src/protocol/protocol.ts'
import { withFolder } from '../../packages/sqlite/test/start-inbox.ts'
import { expectAccessible } from '../support/browser.ts'
import { listen } from '../support/listen.ts'
import { sharedBrowser } from '../support/shared-browser.ts'

const { open } = sharedBrowser()

const salute = defineVerb({
  name: 'salute',
  summary: 'Salute an event',
  effect: 'It hears it',
  changes: 'something',
  words: { label: 'Salute', doing: 'Saluting', done: 'saluted' },
  fields: {
    id: v.pipe(
      v.string('must be text'),
      v.minLength(5, 'must have 5 characters'),
      v.description('event id'),
      v.metadata({ isArgument: true }),
    ),
    loudTimes: v.optional(
      v.pipe(v.number(), v.integer(), v.description('how often'), v.metadata({ sign: 'n' })),
      1,
    ),
  },
  plan: async call => ({ args: call.args, question: ['Salute it, with ', { field: 'loudTimes' }, '?'] }),
  async run({ args: { id, loudTimes }, inbox, caller }) {
    const { dead } = await inbox.stats()
    const words = [
      `${id} saluted ${loudTimes} times by ${caller.name ?? 'nobody'}. Stop with `,
      { field: 'id' },
    ]
    return { isDone: true, data: { saluted: id, loudTimes, dead }, blocks: [{ kind: 'line', words }] }
  },
})

async function createFile(path: string): Promise<void> {
  const logger = { info() {}, warn() {}, error() {} }
  const receiver = createReceiver({ secret: SECRET, inbox: sqliteInbox(path), logger })
  await receiver.start()
  await receiver.close()
}

beforeAll(() => void (VERBS as Verb[]).push(salute))
afterAll(() => void (VERBS as Verb[]).pop())

test('a verb of the table is in the help of the command line, is checked, asks, and runs', () =>
  withFolder(async folder => {
    const file = join(folder, 'inbox.db')
    await createFile(file)
    const inbox = (...args: string[]) => runCli(['inbox', ...args])
    expect((await inbox('--help')).out).toMatch(/^ +salute \[options\] <id> +Salute an event$/m)
    const help = await inbox('salute', '--help')
    expect(help.out).toMatch(/--loud-times <n> +how often \(default: 1\)\n[\s\S]*--yes/)
    const at = ['--sqlite', file]
    expect((await inbox('salute', 'evt_1', ...at)).err).toContain('add --yes to continue')
    expect((await inbox('salute', 'evt', ...at)).err).toContain('<id> must have 5 characters')
    expect(await inbox('salute', 'evt_1', '--loud-times', '3', '--yes', ...at)).toMatchObject({
      ...{ code: 0, out: 'evt_1 saluted 3 times by nobody. Stop with <id>\n' },
    })
    const json = await inbox('salute', 'evt_1', '--yes', '--json', ...at)
    expect(JSON.parse(json.out)).toEqual({ saluted: 'evt_1', loudTimes: 1, dead: 0 })
  }))

test('it is a tool of MCP, if writing is allowed, in the words of MCP', () =>
  withFolder(async folder => {
    const sqlite = join(folder, 'inbox.db')
    await createFile(sqlite)
    const names = inboxTools({ sqlite }, fakeTerminal()).map(({ name }) => name)
    expect(names).not.toContain('inbox_salute')
    const tools = inboxTools({ sqlite, allowWrite: true }, fakeTerminal())
    const tool = tools.find(({ name }) => name === 'inbox_salute')
    expect(tool).toMatchObject({
      ...{ description: 'Salute an event. It hears it', changes: 'something' },
      inputSchema: {
        properties: { id: { type: 'string', minLength: 5 }, loudTimes: { type: 'integer', default: 1 } },
        ...{ required: ['id'], additionalProperties: false },
      },
    })
    expect(JSON.stringify(tool?.inputSchema)).not.toMatch(/sign|isArgument/)
    expect(await tool?.run({ id: 'evt_1', loudTimes: 2 })).toMatchObject({ saluted: 'evt_1', loudTimes: 2 })
    await expect(tool?.run({ id: 'evt_1', times: 2 })).rejects.toThrow(
      'times is no argument here: use id, loudTimes',
    )
  }))

test('it answers over HTTP to whoever may change something, and has a form on the page', async () => {
  const pages = (role: 'admin' | 'read') =>
    dashboard({ inbox: memoryInbox(), authorize: _request => ({ role, name: 'anna' }) })
  const at = `${await listen(pages('admin'))}/ops/`
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json', 'x-ackhook': '1' }
    return (await fetch(`${at}api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  }
  expect(await post('verbs/salute', { id: 'evt_1' })).toMatchObject({
    data: { saluted: 'evt_1', loudTimes: 1 },
  })
  expect(await post('verbs/salute', { id: 'evt' })).toEqual({
    error: 'invalid',
    message: 'id must have 5 characters',
  })
  const reply = await fetch(`${await listen(pages('read'))}/ops/api/verbs`)
  const { verbs } = (await reply.json()) as VerbList
  expect(verbs.map(({ name }) => name)).toEqual(['list', 'groups', 'show', 'stats'])

  const page = await open(`${at}#/actions`)
  await page.getByText('Salute: Salute an event').click()
  await page.getByLabel('Id: event id').last().fill('evt_7')
  await page.getByRole('button', { name: 'Salute', exact: true }).click()
  await page.getByRole('heading', { name: 'Salute it, with Loud times?' }).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Salute', exact: true }).click()
  await page.getByText('evt_7 saluted 1 times by anna. Stop with Id').waitFor()
  await expectAccessible(page)
})

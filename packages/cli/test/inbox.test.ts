import { join } from 'node:path'
import { createReceiver, type Inbox, memoryInbox, NonRetryableError } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { createEvent, testReceiver } from '@ackhook/testing'
import { describe, expect, test, vi } from 'vitest'
import { withFolder } from '../../sqlite/test/start-inbox.ts'
import { inboxCommand } from '../src/inbox/inbox-command.ts'
import { fakeTerminal } from './fake-terminal.ts'
import { SECRET } from './run-cli.ts'

const logger = { info() {}, warn() {}, error() {} }

function setUp(...ids: string[]) {
  return setUpWith(memoryInbox(), ids)
}

/** An inbox with one dead letter for each id, and the command that inspects it. */
async function setUpWith(inbox: Inbox, ids: readonly string[]) {
  let broken = true
  const receiver = createReceiver({ secret: SECRET, inbox, logger })
  receiver.on('*', () => {
    if (broken) throw new NonRetryableError('the \u001b[31mdatabase\u001b[0m is gone')
  })
  const hooks = testReceiver(receiver, { secret: SECRET })
  const deliver = (id: string) => hooks.deliverEvent(createEvent('a.b', { id, data: { n: 1 } }))
  await Promise.all(ids.map(deliver))
  const opened = { ...inbox, close: vi.fn(async () => ({ lost: 0 })) }
  async function run(args: string[], terminal = fakeTerminal()) {
    let code: number | undefined
    const command = inboxCommand(
      terminal,
      value => {
        code = value
      },
      async () => opened,
    )
    await command.parseAsync(args, { from: 'user' })
    return { code, out: terminal.printed.join('\n'), asked: terminal.asked }
  }
  const deadIds = async () => (await inbox.deadLetters.list()).map(letter => letter.id).sort()
  const repair = (): void => {
    broken = false
  }
  return { run, opened, receiver, deliver, deadIds, repair }
}

test('ls lists dead letters with their reason, and as JSON without bodies', async () => {
  const { run, opened } = await setUp('evt_1', 'evt_2')
  const { out, code } = await run(['ls'])
  expect(out).toMatch(/evt_2 {2}a\.b {2}\d{4}-.*Z {2}1 attempt {2}NonRetryableError: the .*database/)
  expect(out).not.toContain('\u001b')
  expect(code).toBe(0)
  expect(opened.close).toHaveBeenCalled()
  const json = JSON.parse((await run(['ls', '--json', '--limit', '1'])).out)
  expect(json.deadLetters).toMatchObject([{ type: 'a.b', attempts: 1, failedAt: expect.any(String) }])
  expect(json.deadLetters[0]).not.toHaveProperty('body')
})

test('show prints one dead letter with its body, or ends with 1', async () => {
  const { run } = await setUp('evt_1')
  expect((await run(['show', 'evt_1'])).out).toMatch(/attempts {2}1[\s\S]*"data": \{\n {4}"n": 1/)
  expect(JSON.parse((await run(['show', 'evt_1', '--json'])).out).deadLetter.body).toContain('"n":1')
  const missing = await run(['show', 'evt_1', '--namespace', 'other'])
  expect(missing).toMatchObject({ code: 1, out: 'There is no dead letter evt_1 in namespace other.' })
})

test('redrive runs dead letters again by id, and lists the ids it did not find', async () => {
  const { run, repair, receiver, deadIds } = await setUp('evt_1', 'evt_2')
  repair()
  const { out, code } = await run(['redrive', 'evt_1', 'evt_9'])
  expect(out).toBe('1 redriven, 1 not found: evt_9')
  expect(code).toBe(1)
  await expect.poll(async () => (await receiver.stats()).active).toBe(0)
  expect(await deadIds()).toEqual(['evt_2'])
})

test('redrive --all redrives every dead letter', async () => {
  const { run, repair, deadIds } = await setUp('evt_1', 'evt_2')
  repair()
  expect(JSON.parse((await run(['redrive', '--all', '--json'])).out)).toEqual({
    redriven: expect.arrayContaining(['evt_1', 'evt_2']),
    missing: [],
  })
  await expect.poll(deadIds).toEqual([])
})

test('redrive --all redrives every dead letter, also of an inbox with an order of its own', async () => {
  const inbox = memoryInbox()
  const { run, deliver } = await setUpWith(inbox, ['evt_1'])
  await expect.poll(() => Date.now()).toBeGreaterThan((await inbox.deadLetters.list())[0]?.failedAt ?? 0)
  await deliver('evt_2')
  const { list } = inbox.deadLetters
  inbox.deadLetters.list = async limits => [...(await list(limits))].reverse()
  const [first, second] = await inbox.deadLetters.list()
  expect(first?.failedAt).toBeLessThan(second?.failedAt ?? 0)
  expect(JSON.parse((await run(['redrive', '--all', '--json'])).out).redriven).toEqual(['evt_1', 'evt_2'])
})

describe('with more dead letters than one page', () => {
  /** A real file, and handlers that fail at once each time. */
  async function withMany(
    count: number,
    work: (made: Awaited<ReturnType<typeof setUpWith>>) => Promise<void>,
  ) {
    const ids = Array.from({ length: count }, (_, i) => `evt_${i}`)
    await withFolder(async folder => {
      const inbox = sqliteInbox(join(folder, 'inbox.db'))
      await work(await setUpWith(inbox, ids))
      await inbox.close(1000)
    })
  }

  test('redrive --all redrives each once, though all fail again and become the newest', () =>
    withMany(1200, async ({ run }) => {
      const { redriven } = JSON.parse((await run(['redrive', '--all', '--json'])).out)
      expect(redriven).toHaveLength(1200)
      expect(new Set(redriven).size).toBe(1200)
    }))

  test('discard --all asks once, and deletes all of them', () =>
    withMany(1200, async ({ run, deadIds }) => {
      const { asked, out } = await run(['discard', '--all'], fakeTerminal({ sure: true }))
      expect(asked).toEqual(['Delete 1200 dead letters for good?'])
      expect(out).toBe('1200 discarded')
      expect(await deadIds()).toEqual([])
    }))
})

test('discard asks first, and does nothing after a no', async () => {
  const { run, deadIds } = await setUp('evt_1')
  const no = await run(['discard', 'evt_1'], fakeTerminal({ sure: false }))
  expect(no.asked).toEqual(['Delete 1 dead letter for good?'])
  expect(await deadIds()).toEqual(['evt_1'])
  expect((await run(['discard', 'evt_1'], fakeTerminal({ sure: true }))).out).toBe('1 discarded')
  expect(await deadIds()).toEqual([])
})

test('discard rejects without a prompt, unless --yes is given', async () => {
  const { run, deadIds, opened } = await setUp('evt_1')
  await expect(run(['discard', '--all'])).rejects.toThrow(/--yes/)
  expect(opened.close).toHaveBeenCalled()
  expect((await run(['discard', '--all', '--yes'])).code).toBe(0)
  expect(await deadIds()).toEqual([])
})

test('redrive and discard take either ids or --all', async () => {
  const { run } = await setUp()
  await expect(run(['redrive'])).rejects.toThrow(/--all/)
  await expect(run(['discard', 'evt_1', '--all'])).rejects.toThrow(/--all/)
})

test('stats counts, for people and for programs', async () => {
  const { run } = await setUp('evt_1')
  expect((await run(['stats'])).out).toBe('waiting  0\nrunning  0\ndead     1\noldest   0 s')
  expect(JSON.parse((await run(['stats', '--json'])).out)).toMatchObject({ pending: 0, active: 0, dead: 1 })
})

test('an inbox that does not answer is an error with advice and without its address', async () => {
  const { run, opened } = await setUp()
  opened.stats = async () => {
    throw new Error('stats did not answer within 5000 ms')
  }
  const error = await run(['stats', '--redis', 'redis://:password@127.0.0.1:1']).catch(String)
  expect(error).toMatch(/does not work: stats did not answer.*does its server run/)
  expect(error).not.toContain('password')
})

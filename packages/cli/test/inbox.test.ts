import { join } from 'node:path'
import { createReceiver, type Inbox, memoryInbox, NonRetryableError } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { createEvent, signedRequest, testReceiver } from '@ackhook/testing'
import stringWidth from 'fast-string-width'
import { describe, expect, test, vi } from 'vitest'
import { withFolder } from '../../sqlite/test/start-inbox.ts'
import { inboxCommand } from '../src/inbox/inbox-command.ts'
import { deliverPatiently } from './deliver-patiently.ts'
import { type FakeTerminal, fakeTerminal } from './fake-terminal.ts'
import { SECRET } from './run-cli.ts'

const logger = { info() {}, warn() {}, error() {} }

function setUp(...ids: string[]) {
  return setUpWith(memoryInbox(), ids)
}

/** Creates an inbox with one dead letter for each id, and the command that inspects it. */
async function setUpWith(inbox: Inbox, ids: readonly string[], data: object = { n: 1 }) {
  let broken = true
  const receiver = createReceiver({ secret: SECRET, inbox, logger })
  receiver.on('*', () => {
    if (broken) throw new NonRetryableError('the \u001b[31mdatabase\u001b[0m is gone')
  })
  const hooks = testReceiver(receiver, { secret: SECRET, timeout: '1m' })
  const deliver = (id: string) => deliverPatiently(hooks, createEvent('a.b', { id, data }))
  await Promise.all(ids.map(deliver))
  const opened = { ...inbox, close: vi.fn(async () => ({ lost: 0 })) }
  const run = (args: string[], terminal = fakeTerminal()) => runOn(opened, args, terminal)
  const deadIds = async () => (await inbox.deadLetters.list()).map(letter => letter.id).sort()
  const repair = (): void => {
    broken = false
  }
  return { run, inbox, opened, receiver, deliver, deadIds, repair }
}

async function runOn(inbox: Inbox, args: string[], terminal: FakeTerminal) {
  let code: number | undefined
  const command = inboxCommand(
    terminal,
    value => {
      code = value
    },
    async () => inbox,
  )
  await command.parseAsync(args, { from: 'user' })
  return { code, out: terminal.printed.join('\n'), asked: terminal.asked }
}

test('list prints dead letters with a header and their reason, and as JSON without bodies', async () => {
  const { run, opened } = await setUp('evt_1', 'evt_2')
  const { out, code } = await run(['list'])
  expect(out).toMatch(/^ID {5}TYPE {2}FAILED {20}ATTEMPTS {2}REASON$/m)
  expect(out).toMatch(/evt_2 {2}a\.b {3}\d{4}-.*Z {2}1 {9}NonRetryableError: the .*database/)
  expect(out).not.toContain('\u001b')
  expect(code).toBe(0)
  expect(opened.close).toHaveBeenCalled()
  const json = JSON.parse((await run(['list', '--json', '--limit', '1'])).out)
  expect(json.deadLetters).toMatchObject([{ type: 'a.b', attempts: 1, failedAt: expect.any(String) }])
  expect(json.deadLetters[0]).not.toHaveProperty('body')
})

test('show prints one dead letter with its body, or ends with 1', async () => {
  const { run } = await setUp('evt_1')
  expect((await run(['show', 'evt_1'])).out).toMatch(/attempts {2}1[\s\S]*"data": \{\n {4}"n": 1/)
  expect(JSON.parse((await run(['show', 'evt_1', '--json'])).out).deadLetter.body).toContain('"n":1')
  const missing = await run(['show', 'evt_1', '--namespace', 'other'])
  expect(missing).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^evt_1 in namespace other is unknown\./),
  })
})

test("show prints the id of an event's trace, and in JSON its trace context", async () => {
  const { run, inbox, receiver } = await setUp()
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const event = createEvent('a.b', { id: 'evt_1' })
  await receiver.handle(signedRequest(event, { secret: SECRET, headers: { traceparent } }))
  await vi.waitFor(async () => expect((await inbox.stats()).dead).toBe(1))
  expect((await run(['show', 'evt_1'])).out).toMatch(/^trace {5}0af7651916cd43dd8448eb211c80319c$/m)
  const { deadLetter } = JSON.parse((await run(['show', 'evt_1', '--json'])).out)
  expect(deadLetter.trace).toEqual({ traceparent })
})

test('show tells when an event was handled, or that it never came', async () => {
  const { run, repair, deliver } = await setUp()
  repair()
  await deliver('evt_1')
  expect(await run(['show', 'evt_1'])).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /^evt_1 was handled at \d{4}-.+Z\. Its id is remembered until \d{4}-.+Z\. Its body is no longer kept\.$/,
    ),
  })
  expect(JSON.parse((await run(['show', 'evt_1', '--json'])).out)).toEqual({
    state: 'handled',
    handledAt: expect.any(String),
    rememberedUntil: expect.any(String),
  })
  const unknown = await run(['show', 'evt_2'])
  expect(unknown).toMatchObject({
    code: 1,
    out: expect.stringContaining('evt_2 is unknown outside any namespace'),
  })
  expect(JSON.parse((await run(['show', 'evt_2', '--json'])).out)).toMatchObject({ state: 'unknown' })
})

test('show tells of an inbox that finds no single event why it cannot', async () => {
  const { inbox } = await setUp()
  const { lookup: _, ...blind } = inbox
  const { out, code } = await runOn(
    { ...blind, cannotLookUp: 'the queue has no index' },
    ['show', 'evt_1'],
    fakeTerminal(),
  )
  expect([code, out]).toEqual([
    1,
    'There is no dead letter evt_1. Other events cannot be looked up: the queue has no index',
  ])
})

test('groups counts dead letters by type and error, and redrive changes those of one group only', async () => {
  const { run, repair, deadIds } = await setUp('evt_1', 'evt_2')
  const { out, code } = await run(['groups'])
  expect(out).toMatch(/^GROUP {11}COUNT {2}TYPE {2}LAST FAILED {15}LAST ERROR$/m)
  expect(out).toMatch(/^[\da-f]{14} {2}2 {6}a\.b {3}\d{4}-.*Z {2}NonRetryableError: the .*database/m)
  expect(out).not.toContain('\u001b')
  expect(code).toBe(0)
  const { groups, counted } = JSON.parse((await run(['groups', '--json'])).out)
  expect([groups.length, counted, groups[0].count]).toEqual([1, 2, 2])
  expect((await run(['list', '--group', groups[0].group])).out).toContain('evt_2')
  expect((await run(['list', '--group', '0'])).out).toBe('No dead letter matches.')
  expect((await run(['discard', '--group', '0', '--yes'])).out).toBe('0 discarded')
  repair()
  expect(await run(['redrive', '--group', groups[0].group, '--yes'])).toMatchObject({
    out: '2 redriven: 2 handled.',
    code: 0,
  })
  await expect.poll(deadIds).toEqual([])
})

test('redrive runs dead letters again by id, and lists the ids it did not find', async () => {
  const { run, repair, receiver, deadIds } = await setUp('evt_1', 'evt_2')
  repair()
  const { out, code } = await run(['redrive', 'evt_1', 'evt_9'])
  expect(out).toBe('1 redriven, 1 not (no such dead letter): evt_9\n1 redriven: 1 handled.')
  expect(code).toBe(1)
  await expect.poll(async () => (await receiver.stats()).active).toBe(0)
  expect(await deadIds()).toEqual(['evt_2'])
})

test('redrive --all redrives every dead letter', async () => {
  const { run, repair, deadIds } = await setUp('evt_1', 'evt_2')
  repair()
  expect(JSON.parse((await run(['redrive', '--all', '--yes', '--json'])).out)).toMatchObject({
    ...{ redriven: 2, missing: 0, missingIds: [], refusals: [] },
    outcome: { handled: 2, failed: 0, waiting: 0 },
  })
  await expect.poll(deadIds).toEqual([])
})

test('redrive follows events to their end, names their errors, and fails if one failed again', async () => {
  const { run, deadIds } = await setUp('evt_1', 'evt_2')
  const { out, code } = await run(['redrive', '--all', '--yes'])
  expect(out).toMatch(
    /^2 redriven: 0 handled, 2 failed again: same error\.\n {2}2 × NonRetryableError: the .*database.* \(--group [\da-f]{14}\)$/,
  )
  expect(out).not.toContain('\u001b')
  expect(code).toBe(1)
  expect(await run(['redrive', '--all', '--yes', '--no-follow'])).toMatchObject({
    out: '2 redriven',
    code: 0,
  })
  await expect.poll(deadIds).toEqual(['evt_1', 'evt_2'])
})

test('redrive says why events wait: no process takes them, handling is paused, or Ctrl-C', async () => {
  const { inbox, opened } = await setUp('evt_1')
  const [letter] = await inbox.deadLetters.list()
  await inbox.handling?.pause()
  const stats = await inbox.stats()
  const redrive = (changes: object, terminal = fakeTerminal()) =>
    runOn({ ...opened, ...changes } as Inbox, ['redrive', 'evt_1'], terminal)
  expect(await redrive({})).toMatchObject({
    out: '1 redriven: 0 handled, 1 waiting (handling is paused: ackhook inbox resume --all)',
    code: 0,
  })
  const idle = { ...inbox.deadLetters, get: () => letter, redrive: () => true }
  const waiting = { stats: () => ({ ...stats, paused: undefined }), deadLetters: idle }
  expect((await redrive({ ...waiting, processes: () => [] })).out).toBe(
    '1 redriven: 0 handled, 1 waiting (no process takes events from this inbox)',
  )
  const stop = new AbortController()
  const stopping = { ...waiting, processes: () => (stop.abort(), undefined) }
  expect((await redrive(stopping, fakeTerminal({ stop: stop.signal }))).out).toBe(
    '1 redriven: 0 handled, 1 waiting (stopped before the end)',
  )
  await inbox.handling?.resume()
})

test('redrive --all ends though all 100,000 letters fail again, holds one page and counts each letter once', async () => {
  const endless = endlessLetters(100_000)
  let advanced = 0
  const terminal = fakeTerminal({
    progress: total => ({ advance: () => void advanced++, stop: () => expect(total).toBe(100_000) }),
  })
  const { out, code } = await runOn(endless.inbox, ['redrive', '--all', '--yes'], terminal)
  expect(out).toMatch(/^100,000 redriven: 0 handled, 100,000 failed again: same error\.\n {2}100000 × down/)
  expect(code).toBe(1)
  // Each once as it is redriven, and once as it ends.
  expect(advanced).toBe(200_000)
  expect(endless.longestPage).toBeLessThanOrEqual(1000)
  expect(endless.redriven.size).toBe(100_000)
})

test('redrive by type and error class prompts with the filter before it reads, and leaves the others', async () => {
  const { run, repair, deadIds, opened } = await setUp('evt_1', 'evt_2')
  repair()
  const page = vi.spyOn(opened, 'browse')
  for (const flags of [
    ['--type', 'c.*'],
    ['--error', 'RangeError'],
    ['--type', 'a.*', '--error', 'NonRetryableError'],
  ]) {
    const no = await run(['redrive', ...flags], fakeTerminal({ sure: false }))
    expect(no.asked).toEqual([`Redrive those of 2 dead letters that match ${flags.join(' ')}?`])
  }
  expect(page.mock.calls.filter(([{ limit }]) => limit !== 1)).toEqual([])
  expect((await deadIds()).length).toBe(2)
  expect((await run(['redrive', '--type', 'a.b'], fakeTerminal({ sure: true }))).out).toBe(
    '2 redriven: 2 handled.',
  )
  await expect.poll(deadIds).toEqual([])
})

test('redrive by filter needs --yes without a terminal', async () => {
  const { run, deadIds } = await setUp('evt_1')
  for (const flags of [['--all'], ['--type', 'a.*'], ['--error', 'NonRetryableError']])
    await expect(run(['redrive', ...flags])).rejects.toThrow(/add --yes/)
  expect(await deadIds()).toEqual(['evt_1'])
})

test('list shows the letters of a type, and refuses an invalid pattern', async () => {
  const { run } = await setUp('evt_1')
  expect((await run(['list', '--type', 'a.*'])).out).toContain('evt_1')
  expect((await run(['list', '--type', 'b.*'])).out).toBe('No dead letter matches.')
  await expect(run(['list', '--type', 'a*'])).rejects.toThrow(/--type .*'a\*' is not a pattern/)
})

test('redrive --rate spreads the letters over time, and Ctrl-C ends its wait', async () => {
  const at: number[] = []
  const stop = new AbortController()
  const bar = {
    advance() {
      if (at.push(performance.now()) === 5) stop.abort()
    },
    stop() {},
  }
  const terminal = fakeTerminal({ stop: stop.signal, progress: () => bar })
  const flags = ['redrive', '--all', '--yes', '--rate', '1200/m']
  const startedAt = performance.now()
  const { out } = await runOn(endlessLetters(1000).inbox, flags, terminal)
  expect(out).toBe('5 redriven, stopped before the end')
  expect((at[4] as number) - startedAt).toBeGreaterThanOrEqual(199)
})

test('Ctrl-C ends redrive --all with the count so far', async () => {
  const stop = new AbortController()
  const terminal = fakeTerminal({
    stop: stop.signal,
    progress: () => ({ advance: () => stop.abort(), stop() {} }),
  })
  const { out, code } = await runOn(endlessLetters(100_000).inbox, ['redrive', '--all', '--yes'], terminal)
  expect(out).toMatch(/^\d{1,3} redriven, stopped before the end$/)
  expect(code).toBe(1)
})

/** Dead letters of an inbox whose handlers fail at once: each redriven letter becomes the newest again. */
function endlessLetters(count: number, maxPage = Number.POSITIVE_INFINITY) {
  const letterOf = (id: string) => ({ key: id, id, type: 'a.b', reason: 'down', attempts: 1 })
  let newest = count
  const byPlace = new Map(Array.from({ length: count }, (_, i) => [i + 1, `evt_${i}`]))
  const placeOf = new Map([...byPlace].map(([place, id]) => [id, place]))
  const state = { longestPage: 0, redriven: new Set<string>() }
  const deadLetters = {
    list({ limit = 100, after = String(newest + 1) }) {
      const page: object[] = []
      for (let place = Number(after) - 1; place > 0 && page.length < Math.min(limit, maxPage); place--) {
        const id = byPlace.get(place)
        if (id !== undefined) page.push({ ...letterOf(id), cursor: String(place) })
      }
      state.longestPage = Math.max(state.longestPage, page.length)
      return page
    },
    get: letterOf,
    redrive(id: string) {
      byPlace.delete(placeOf.get(id) ?? 0)
      byPlace.set(++newest, id)
      placeOf.set(id, newest)
      state.redriven.add(id)
      return true
    },
  }
  const inbox = { deadLetters, stats: () => ({ dead: count }), close: async () => ({ lost: 0 }) }
  return Object.assign(state, { inbox: inbox as unknown as Inbox })
}

test('list shows one page in either order, with the cursor of the next', async () => {
  const { run, deliver, inbox } = await setUp('evt_1')
  for (const id of ['evt_2', 'evt_3']) {
    const last = (await inbox.deadLetters.list())[0]?.failedAt ?? 0
    await expect.poll(() => Date.now()).toBeGreaterThan(last)
    await deliver(id)
  }
  const terminal = fakeTerminal()
  const first = await run(['list', '--limit', '2', '--order', 'oldest'], terminal)
  expect(first.out).toMatch(/^ID .*\nevt_1 .*\nevt_2 /)
  const [, cursor] =
    /^2 of 3 dead letters\. For more, add --after (\S+)/.exec(terminal.complained.join()) ?? []
  const rest = await run(['list', '--limit', '2', '--order', 'oldest', '--after', cursor ?? ''])
  expect(rest.out).toMatch(/^ID [^\n]*\nevt_3 [^\n]*$/)
  const json = JSON.parse((await run(['list', '--json', '--limit', '1'])).out)
  expect(json.deadLetters).toMatchObject([{ id: 'evt_3', cursor: expect.any(String) }])
  await expect(run(['list', '--after', 'nonsense'])).rejects.toThrow(/^--after must be the cursor/)
})

test('list fits the width of a terminal, and shortens nothing elsewhere', async () => {
  const ids = ['evt_01hzy3qk5w9v2x7m4n8p6r0t1s', 'evt_注文番号一二三四五六七八九十', 'evt_🚀']
  const { run } = await setUp(...ids)
  const whole = (await run(['list'])).out
  for (const id of ids) expect(whole).toContain(id)
  expect((await run(['list'], fakeTerminal({ columns: 200 }))).out).toBe(whole)
  for (const columns of [80, 120]) {
    const { out } = await run(['list'], fakeTerminal({ columns }))
    const lines = out.split('\n')
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns)
    expect(out).toContain('evt_01hzy3qk5…6r0t1s')
    const rows = lines.filter(line => /^(?:ID|evt_)/.test(line))
    // All types begin in the same visible column.
    const places = rows.map(line => stringWidth(line.slice(0, line.search(/TYPE|a\.b/))))
    expect(new Set(places)).toEqual(new Set([22]))
  }
  const json = JSON.parse((await run(['list', '--json'], fakeTerminal({ columns: 80 }))).out)
  expect(json.deadLetters.map(({ id }: { id: string }) => id).toSorted()).toEqual(ids.toSorted())
})

test('forget releases the id of a handled event, so that a replay runs', async () => {
  const { run, repair, deliver } = await setUp('evt_dead')
  repair()
  await deliver('evt_1')
  expect((await deliver('evt_1')).outcome).toBe('duplicate')
  const { out, code } = await run(['forget', 'evt_1', 'evt_dead', 'evt_9'])
  expect(out).toBe(
    '1 forgotten, 1 not (a dead letter, which runs again at its next delivery anyway): evt_dead, 1 not (not remembered as handled): evt_9',
  )
  expect(code).toBe(1)
  expect((await deliver('evt_1')).outcome).toBe('handled')
  const json = JSON.parse((await run(['forget', 'evt_1', '--json'])).out)
  expect(json).toEqual({ forgotten: 1, missing: 0, missingIds: [], refusals: [] })
})

describe('with more dead letters than one page', () => {
  /** Sets up an inbox in a file, with handlers that always fail at once. */
  async function withMany(
    count: number,
    work: (made: Awaited<ReturnType<typeof setUpWith>>) => Promise<void>,
    data?: object,
  ) {
    const ids = Array.from({ length: count }, (_, i) => `evt_${i}`)
    await withFolder(async folder => {
      const inbox = sqliteInbox(join(folder, 'inbox.db'))
      const made = await setUpWith(inbox, ids, data)
      // The handlers have ended, but their results may not be stored yet, and counts may be seconds old.
      await expect.poll(async () => (await inbox.stats()).dead, { timeout: 30_000 }).toBe(count)
      await work(made)
      await inbox.close(1000)
    })
  }

  test('redrive --all redrives each letter once, though all fail again and become the newest', () =>
    withMany(1200, async ({ run }) => {
      const { redriven, missing } = JSON.parse((await run(['redrive', '--all', '--yes', '--json'])).out)
      expect([redriven, missing]).toEqual([1200, 0])
    }))

  test('discard --all asks once, and deletes all of them', () =>
    withMany(1200, async ({ run, deadIds }) => {
      const { asked, out } = await run(['discard', '--all'], fakeTerminal({ sure: true }))
      expect(asked).toEqual(['Delete 1200 dead letters for good?'])
      expect(out).toBe('1200 discarded')
      expect(await deadIds()).toEqual([])
    }))

  test('large letters, whose pages end early, are all listed and discarded without reading a body', () =>
    withMany(
      30,
      async ({ run, opened, inbox, deadIds }) => {
        expect((await inbox.deadLetters.list()).length).toBeLessThan(30)
        const { deadLetters } = JSON.parse((await run(['list', '--json'])).out)
        expect(new Set(deadLetters.map(({ id }: { id: string }) => id)).size).toBe(30)
        const list = vi.fn()
        opened.deadLetters = { ...inbox.deadLetters, list }
        expect((await run(['discard', '--all', '--yes'])).out).toBe('30 discarded')
        expect(list).not.toHaveBeenCalled()
        expect(await deadIds()).toEqual([])
      },
      { text: 'x'.repeat(400_000) },
    ))

  test('an inbox without browse is read up to its first empty page', async () => {
    const endless = endlessLetters(30, 4)
    const { out } = await runOn(endless.inbox, ['redrive', '--all', '--yes'], fakeTerminal())
    expect([out, endless.longestPage]).toEqual([expect.stringMatching(/^30 redriven: /), 4])
  })
})

describe('with namespaces', () => {
  /** Sets up the id `evt_1` in `acme` and `other`, and `evt_2` only in `acme`. */
  async function withNamespaces() {
    const inbox = memoryInbox()
    let namespace = ''
    const receiver = createReceiver({ secret: SECRET, inbox, logger, namespace: () => namespace })
    receiver.on('*', () => {
      throw new NonRetryableError('no')
    })
    const hooks = testReceiver(receiver, { secret: SECRET, timeout: '1m' })
    for (const [id, name] of [
      ['evt_1', 'acme'],
      ['evt_1', 'other'],
      ['evt_2', 'acme'],
    ] as const) {
      namespace = name
      await deliverPatiently(hooks, createEvent('a.b', { id }))
    }
    const opened = { ...inbox, close: async () => ({ lost: 0 }) }
    const left = async () =>
      (await inbox.deadLetters.list()).map(letter => `${letter.namespace}/${letter.id}`).sort()
    return { run: (...args: string[]) => runOn(opened, args, fakeTerminal()), left }
  }

  test('list has a namespace column, and --namespace lists only one', async () => {
    const { run } = await withNamespaces()
    expect((await run('list')).out).toMatch(/^ID {5}NAMESPACE {2}TYPE .*\nevt_2 {2}acme {7}a\.b /)
    const { out } = await run('list', '--json', '--namespace', 'other')
    expect(JSON.parse(out).deadLetters).toMatchObject([{ id: 'evt_1', namespace: 'other' }])
  })

  test('a listed id is found in its namespace', async () => {
    const { run, left } = await withNamespaces()
    expect((await run('show', 'evt_2')).out).toMatch(/^namespace {2}acme$/m)
    expect((await run('discard', 'evt_2', '--yes')).out).toBe('1 discarded')
    expect(await left()).toEqual(['acme/evt_1', 'other/evt_1'])
  })

  test('an id in several namespaces is refused with their names, and one outside --namespace as missing', async () => {
    const { run, left } = await withNamespaces()
    const { out, code } = await run('discard', 'evt_1', 'evt_9', '--yes')
    expect(out).toMatch(
      /^0 discarded, 1 not \(in several namespaces, so add --namespace with one of (?:acme, other|other, acme)\): evt_1, 1 not \(no such dead letter\): evt_9$/,
    )
    expect(code).toBe(1)
    expect((await run('redrive', 'evt_2', '--namespace', 'other')).out).toBe(
      '0 redriven, 1 not (no such dead letter in namespace other): evt_2',
    )
    expect(await left()).toHaveLength(3)
  })

  test('--all with --namespace leaves other namespaces unchanged', async () => {
    const { run, left } = await withNamespaces()
    expect((await run('discard', '--all', '--namespace', 'acme', '--yes')).out).toBe('2 discarded')
    expect(await left()).toEqual(['other/evt_1'])
  })
})

test('a redrive that is refused because the inbox is full says so', async () => {
  const { run, opened, inbox } = await setUp('evt_1')
  opened.deadLetters = { ...inbox.deadLetters, redrive: () => false }
  const { out, code } = await run(['redrive', 'evt_1', 'evt_9'])
  expect(out).toBe('0 redriven, 1 not (the inbox is full): evt_1, 1 not (no such dead letter): evt_9')
  expect(code).toBe(1)
  expect(JSON.parse((await run(['redrive', 'evt_1', '--json'])).out).refusals).toEqual([
    { reason: 'the inbox is full', count: 1, ids: ['evt_1'] },
  ])
})

test('discard prompts first, and changes nothing if the user declines', async () => {
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

test('redrive and discard accept either ids or --all', async () => {
  const { run } = await setUp()
  await expect(run(['redrive'])).rejects.toThrow(/--all/)
  await expect(run(['discard', 'evt_1', '--all'])).rejects.toThrow(/--all/)
})

test('stats counts, for people and for programs', async () => {
  const { run } = await setUp('evt_1')
  // A process writes its figures every two seconds.
  await expect.poll(async () => (await run(['stats'])).out, { timeout: 20_000 }).toMatch(/^Failing/)
  expect((await run(['stats'])).out.split('\n')).toEqual([
    expect.stringMatching(/^Failing: the last attempt at a\.b failed, within \d+ s\.$/),
    expect.stringMatching(/^\w*Error: /),
    'pending    0',
    'active     0',
    'dead       1',
    'oldest     0 s',
    'last hour  1 accepted, 0 handled, 1 attempt failed (100%), 1 dead-lettered',
    expect.stringMatching(/^lag {8}half within \d/),
    expect.stringMatching(/^handlers {3}half within \d/),
  ])
  expect(JSON.parse((await run(['stats', '--json'])).out)).toMatchObject({
    verdict: { state: 'failing_all', tone: 'bad' },
    activity: { accepted: 1, failed: 1 },
    ...{ pending: 0, active: 0, dead: 1 },
    lastHour: { received: 1, handled: 0, deadLettered: 1 },
  })
})

test('an inbox that does not respond is an error with advice and without its address', async () => {
  const { run, opened } = await setUp()
  opened.stats = async () => {
    throw new Error('stats did not respond within 5000 ms')
  }
  const error = await run(['stats', '--redis', 'redis://:password@127.0.0.1:1']).catch(String)
  expect(error).toMatch(/does not work: stats did not respond.*check whether the server hangs/)
  expect(error).not.toContain('password')
})

test('pause and resume hold back and let go of one type or all, and stats shows what is paused', async () => {
  const { run, inbox } = await setUp()
  const { out, code } = await run(['pause', 'a.b'])
  expect([out, code]).toEqual([
    "Handling of 'a.b' events is paused: they are accepted, and wait. End it with: ackhook inbox resume a.b",
    0,
  ])
  expect(await inbox.handling?.paused()).toMatchObject([{ type: 'a.b' }])
  expect((await run(['pause', 'a.b'])).out).toMatch(/'a\.b' events was paused already/)
  const all = JSON.parse((await run(['pause', '--all', '--json'])).out)
  const since = expect.stringMatching(/^\d{4}-.*Z$/)
  expect(all).toEqual({ changed: true, paused: [{ since }, { type: 'a.b', since }] })
  expect((await run(['stats'])).out).toMatch(/^paused {5}all types since .*Z, a\.b since .*Z$/m)
  expect(JSON.parse((await run(['stats', '--json'])).out)).toMatchObject({
    paused: true,
    pausedTypes: ['a.b'],
  })
  expect((await run(['resume', 'a.b'])).out).toMatch(
    /'a\.b' events is resumed\.\nStill paused: all types since/,
  )
  expect((await run(['resume', '--all'])).out).toBe('Handling of all events is resumed.')
  expect((await run(['resume', '--all'])).out).toBe('Handling of all events was not paused.')
  expect((await run(['stats'])).out).not.toContain('paused')
})

test.each([
  [['pause'], /give one event type to pause, such as conversation\.resolved, or --all/],
  [['resume', 'a.b', '--all'], /give one event type to resume/],
  [['pause', 'a.*'], /'a\.\*' is not one event type: patterns cannot be paused/],
])('%s is refused', async (args, reason) => {
  const { run } = await setUp()
  expect(await run(args).catch(String)).toMatch(reason)
})

test('pause passes on why an inbox cannot', async () => {
  const { inbox } = await setUp()
  const { handling, ...rest } = inbox
  const of = (one: Partial<Inbox>, ...args: string[]) =>
    runOn({ ...rest, close: async () => ({ lost: 0 }), ...one }, ['pause', ...args], fakeTerminal()).catch(
      String,
    )
  expect(await of({ cannotPause: 'stop the queue there' }, '--all')).toMatch(
    /cannot be paused here: stop the queue/,
  )
  expect(await of({}, '--all')).toMatch(/cannot be paused here: upgrade the package/)
  const all = {
    handling: { ...handling, cannotPauseTypes: 'only all of them' } as Inbox['handling'],
  } as Inbox
  expect(await of(all, 'a.b')).toMatch(/one type cannot be paused here: only all of them/)
})

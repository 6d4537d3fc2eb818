import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createReceiver, NonRetryableError } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { createEvent } from '@ackhook/testing'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from 'vitest'
import { withFolder } from '../../sqlite/test/start-inbox.ts'
import { inboxCommand } from '../src/inbox/inbox-command.ts'
import { type FakeTerminal, fakeTerminal } from './fake-terminal.ts'
import { SECRET } from './run-cli.ts'

const logger = { info() {}, warn() {}, error() {} }

/** Runs commands on the inbox of a file, each as a process of its own would. */
function commandsOn(folder: string) {
  const path = join(folder, 'inbox.db')
  const run = async (args: string[], terminal: FakeTerminal = fakeTerminal({ cwd: folder })) => {
    let code: number | undefined
    const finish = (value: number) => {
      code = value
    }
    const command = inboxCommand(terminal, finish, async () => sqliteInbox({ path, create: false }))
    await command.parseAsync(args, { from: 'user' })
    return {
      code,
      out: terminal.printed.join('\n'),
      err: terminal.complained.join('\n'),
      asked: terminal.asked,
    }
  }
  return { path, run }
}

/** An app on that file, whose handlers fail for ids that begin with `dead` or `wait`. */
async function startApp(path: string) {
  const handled: string[] = []
  const inbox = sqliteInbox({ path, poll: '20ms' })
  const retry = { minDelay: '10m', maxDelay: '20m' } as const
  const app = createReceiver({ secret: SECRET, inbox, logger, retry })
  app.on('*', ({ id }) => {
    if (id.startsWith('dead')) throw new NonRetryableError('no')
    if (id.startsWith('wait')) throw new Error('not yet')
    handled.push(id)
  })
  await app.start()
  return { app, handled }
}

const line = (id: string, data: object = {}) => JSON.stringify(createEvent('a.b', { id, data }))

test('ingest stores each line as a delivery would, names bad lines, and can be repeated', () =>
  withFolder(async folder => {
    const { path, run } = commandsOn(folder)
    const { app, handled } = await startApp(path)
    const lines = [
      line('evt_1'),
      'not json',
      line('dead_2'),
      '',
      '{"id":"evt_3"}',
      line('evt_1'),
      line('evt_4'),
    ]
    writeFileSync(join(folder, 'events.jsonl'), `${lines.join('\r\n')}\n`)

    const dry = await run(['ingest', 'events.jsonl', '--dry-run'])
    expect(dry.out).toBe(
      'Nothing was stored. It would be: 3 accepted, 1 known already, 0 dead letters, which only a redrive runs, 2 refused',
    )
    expect(await app.stats()).toMatchObject({ pending: 0, active: 0, dead: 0 })

    const first = await run(['ingest', 'events.jsonl'])
    expect(first.out).toBe(
      '3 accepted, 1 known already, 0 dead letters, which only a redrive runs, 2 refused',
    )
    expect(first.err).toMatch(/^line 2: json_invalid.*\nline 5: envelope_invalid/)
    expect(first.code).toBe(1)
    await expect.poll(() => handled.toSorted()).toEqual(['evt_1', 'evt_4'])
    await expect.poll(async () => (await app.stats()).dead).toBe(1)

    const again = JSON.parse((await run(['ingest', 'events.jsonl', '--json'])).out)
    expect(again).toMatchObject({ accepted: 0, duplicates: 3, dead: 1, refused: 2 })
    expect(again.lines).toMatchObject([{ line: 2, code: 'json_invalid' }, { line: 5 }])
    expect(handled).toHaveLength(2)

    const piped = fakeTerminal({ cwd: folder, piped: line('evt_5') })
    expect(await run(['ingest', '-', '--namespace', 'acme'], piped)).toMatchObject({ code: 0 })
    await expect.poll(async () => (await app.lookup('evt_5', { namespace: 'acme' })).state).toBe('handled')
    await app.close()
  }))

test('ingest ends at a bad line with --fail-fast, and says where', () =>
  withFolder(async folder => {
    const { path, run } = commandsOn(folder)
    const { app } = await startApp(path)
    const many = Array.from({ length: 200 }, (_, i) => (i === 10 ? 'bad' : line(`evt_${i}`)))
    writeFileSync(join(folder, 'events.jsonl'), many.join('\n'))
    const { code, err } = await run(['ingest', 'events.jsonl', '--fail-fast'])
    expect(err).toContain('Ended at line 11 (json_invalid). Run it again: what is stored is known already.')
    expect(code).toBe(1)
    await app.close()
  }))

test('ingest cuts events out of an array, an export of several lines, UTF-16 and gzip, with their exact bytes', () =>
  withFolder(async folder => {
    const { path, run } = commandsOn(folder)
    const { app } = await startApp(path)
    const exact = (id: string) =>
      `{"2":0,"1":0,"id":"${id}","type":"a.b","created_at":"2026-03-01T12:00:00Z","data":{"n":12345678901234567890,"n":1.0,"t":"\\u00e9ü"}}`
    const files = {
      'array.json': `[\n  ${exact('dead_1')},\n  ${exact('dead_2')}\n]\n`,
      'lines.jsonl.gz': Buffer.concat([gzipSync(`${exact('dead_3')}\n`), gzipSync(exact('dead_4'))]),
      'from-powershell.txt': Buffer.from(`\ufeff${exact('dead_5')}\r\n`, 'utf16le'),
      'old-mac.txt': `${exact('dead_6')}\r${exact('dead_7')}\r`,
      'records.json-seq': `\x1e${exact('dead_8')}\n\x1e${exact('dead_9')}\n`,
    }
    for (const [file, content] of Object.entries(files)) {
      writeFileSync(join(folder, file), content)
      expect([file, await run(['ingest', file])]).toEqual([
        file,
        expect.objectContaining({ code: 0, err: '' }),
      ])
    }
    await expect.poll(async () => (await app.stats()).dead).toBe(9)
    for (const { id, body } of await app.deadLetters.list())
      expect(Buffer.from(body).toString()).toBe(exact(id))
    await app.close()
  }))

test('ingest says exactly what was stored of a file that breaks off, and stores nothing of what it does not know', () =>
  withFolder(async folder => {
    const { path, run } = commandsOn(folder)
    const { app, handled } = await startApp(path)
    writeFileSync(
      join(folder, 'cut.json'),
      `[\n${line('evt_1')},\n${line('evt_2')},\n${line('evt_3').slice(0, -5)}`,
    )
    const cut = await run(['ingest', 'cut.json'])
    expect(cut).toMatchObject({ code: 1, out: expect.stringMatching(/^2 accepted, /) })
    expect(cut.err).toBe(
      'Ended at line 4 (the JSON value that begins there does not end: the file may have been cut). Run it again: what is stored is known already. Of the events that begin at lines 1 to 3, all were offered; of those behind, none.',
    )
    const json = JSON.parse((await run(['ingest', 'cut.json', '--json'])).out)
    expect(json).toMatchObject({ duplicates: 2, stoppedAt: { line: 4 }, offeredTo: 3 })

    writeFileSync(
      join(folder, 'latin1.jsonl'),
      Buffer.from(`${line('evt_4', { name: 'Zoë' })}\n${line('evt_5')}`, 'latin1'),
    )
    const latin1 = await run(['ingest', 'latin1.jsonl'])
    expect(latin1.err).toBe('line 1: json_invalid (it is not UTF-8: save the file as UTF-8)')
    await expect.poll(() => handled.toSorted()).toEqual(['evt_1', 'evt_2', 'evt_5'])

    for (const [name, content] of [
      ['CSV', 'id,type\nevt_1,a.b\n'],
      ['a zip archive', 'PK\x03\x04'],
      ['compressed with Zstandard', Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
    ] as const) {
      writeFileSync(join(folder, 'other'), content)
      await expect(run(['ingest', 'other'])).rejects.toThrow(
        new RegExp(`^other is ${name}.*Nothing was stored: `),
      )
    }
    await expect(run(['ingest', '.'])).rejects.toThrow('. is a folder')
    await app.close()
  }))

test('ingest refuses a file that does not exist', () =>
  withFolder(async folder => {
    const { path, run } = commandsOn(folder)
    const { app } = await startApp(path)
    await expect(run(['ingest', 'none.jsonl'])).rejects.toThrow('there is no file none.jsonl')
    await app.close()
  }))

test('ingest says that a folder is none of its files, and that a file cannot be read, without an uncaught error', () =>
  withFolder(async folder => {
    const { path, run } = commandsOn(folder)
    const { app } = await startApp(path)
    await expect(run(['ingest', '.'])).rejects.toThrow('. is a folder: name one of its files')
    // A file that opens, and fails when it is read.
    const { code, err } = await run(['ingest', '/proc/self/mem'])
    expect([code, err]).toEqual([1, expect.stringContaining('cannot be read: EIO')])
    await app.close()
  }))

test('erase counts what matches, asks, and deletes what waits or is dead', () =>
  withFolder(async folder => {
    const { path, run } = commandsOn(folder)
    const { app } = await startApp(path)
    const data = { contact: { id: 'ct_1' } }
    for (const [id, of] of [
      ['dead_1', data],
      ['wait_1', data],
      ['dead_2', {}],
    ] as const)
      await app.ingest(createEvent('a.b', { id, data: of }), { source: 'test' })
    await expect.poll(async () => (await app.stats()).dead).toBe(2)
    await expect.poll(async () => (await app.stats()).retrying).toBe(1)
    const where = ['--where', 'data.contact.id=ct_1']
    expect((await run(['erase', ...where, '--dry-run'])).out).toBe(
      '1 dead letters and 1 waiting events match, of 3 events',
    )
    const unsure = await run(['erase', ...where], fakeTerminal({ sure: false }))
    expect(unsure).toMatchObject({ code: 1, out: '' })
    expect(unsure.asked).toEqual([
      'Delete 1 dead letters and 1 waiting events for good? They will not be handled.',
    ])
    expect(await app.stats()).toMatchObject({ pending: 1, dead: 2 })
    expect(JSON.parse((await run(['erase', ...where, '--yes', '--json'])).out)).toEqual({
      scanned: 3,
      dead: 1,
      waiting: 1,
      running: 0,
      unreadable: 0,
    })
    expect(await app.stats()).toMatchObject({ pending: 0, dead: 1 })
    await expect(run(['erase'])).rejects.toThrow('give --where <path=value>')
    await expect(run(['erase', '--where', 'x'])).rejects.toThrow('must be path=value')
    await app.close()
  }))

test('discard --older-than deletes the letters whose last attempt is that long ago, and list shows them', () =>
  withFolder(async folder => {
    const { path, run } = commandsOn(folder)
    const { app } = await startApp(path)
    await app.ingest(createEvent('a.b', { id: 'dead_old' }), { source: 'test' })
    await expect.poll(async () => (await app.stats()).dead).toBe(1)
    // By the file's clock, whatever the app's option says: so its row is aged.
    const database = new DatabaseSync(path)
    database.exec(`UPDATE ackhook_events SET due = due - 7200000 WHERE id = 'dead_old'`)
    database.close()
    await app.ingest(createEvent('a.b', { id: 'dead_new' }), { source: 'test' })
    await expect.poll(async () => (await app.stats()).dead).toBe(2)
    expect((await run(['list', '--older-than', '3h'])).out).toBe('No dead letter matches.')
    expect((await run(['list', '--older-than', '1h'])).out).toMatch(/dead_old/)
    expect((await run(['list', '--older-than', '1h'])).out).not.toMatch(/dead_new/)
    expect(await run(['discard', '--older-than', '1h', '--dry-run'])).toMatchObject({
      code: 0,
      asked: [],
      out: '1 would be discarded',
    })
    expect(await run(['redrive', 'dead_new', 'dead_old', 'other', '--dry-run'])).toMatchObject({
      code: 1,
      out: '2 would be redriven, 1 not (no such dead letter): other',
    })
    expect(JSON.parse((await run(['discard', '--all', '--dry-run', '--json'])).out)).toMatchObject({
      matched: 2,
    })
    expect(await app.stats()).toMatchObject({ pending: 0, dead: 2 })
    const { asked, out } = await run(['discard', '--older-than', '1h'], fakeTerminal({ sure: true }))
    expect(asked).toEqual(['Delete those of 2 dead letters that match --older-than 1h for good?'])
    expect(out).toBe('1 discarded')
    expect((await app.deadLetters.list()).map(({ id }) => id)).toEqual(['dead_new'])
    await app.close()
  }))

import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { inFull, itInFull } from '../../../test/support/in-full.ts'
import { recordingLogger } from '../../../test/support/receiving.ts'
import { until } from '../../../test/support/until.ts'
import { FileProcess } from './file-process.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

const FILES = ['', '-wal', '-shm']

/** Runs `body` with a file in a new folder. Ends every process that it starts. */
async function withFile(
  body: (path: string, start: (path?: string, concurrency?: number) => Promise<FileProcess>) => Promise<void>,
): Promise<void> {
  await withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const processes: FileProcess[] = []
    try {
      await body(path, async (other = path, concurrency = 0) => {
        const one = await FileProcess.start(other, { concurrency })
        processes.push(one)
        return one
      })
    } finally {
      for (const one of processes) await one.kill()
    }
  })
}

/** Returns the ids of the events in a file that no process has open. Fails if it is damaged. */
function idsIn(path: string): readonly string[] {
  const database = new DatabaseSync(path)
  try {
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    return (database.prepare('SELECT id FROM ackhook_events').all() as { id: string }[]).map(({ id }) => id)
  } finally {
    database.close()
  }
}

/** Delivers until something is acknowledged. */
async function deliverUntilHealed(one: FileProcess): Promise<readonly string[]> {
  const ids: string[] = []
  await until('it accepts again', async () => {
    ids.push(...(await one.deliver(1)))
    return ids.length > 0
  })
  return ids
}

function remove(path: string, suffixes: readonly string[]): void {
  for (const suffix of suffixes) rmSync(path + suffix)
}

it.each([
  ['its log', ['-wal']],
  ...inFull<readonly (readonly [string, readonly string[]])[]>(
    [
      ["its log's index", ['-shm']],
      ['both', ['-wal', '-shm']],
    ],
    [],
  ),
] as const)('saves every acknowledged event when %s is deleted beside it, and accepts again', (_, suffixes) =>
  withFile(async (path, start) => {
    const one = await start()
    const before = await one.deliver(60)
    expect(before).toHaveLength(60)
    remove(path, suffixes)
    // Nothing is delivered: it sees that by itself.
    expect(await one.log('inbox_log_saved')).toMatchObject({ level: 'warn', events: 60 })
    const after = await deliverUntilHealed(one)
    await one.kill()
    expect(idsIn(path)).toEqual(expect.arrayContaining([...before, ...after]))
  }),
)

itInFull('acknowledges nothing that only a deleted log has', () =>
  withFile(async (path, start) => {
    const one = await start()
    const acknowledged: string[] = []
    for (let round = 0; round < 4; round++) {
      const delivering = one.deliver(40)
      remove(path, ['-wal'])
      acknowledged.push(...(await delivering), ...(await deliverUntilHealed(one)))
    }
    await one.kill()
    expect(idsIn(path)).toEqual(expect.arrayContaining(acknowledged))
  }),
)

it('saves the log that two processes share, and both go on', () =>
  withFile(async (path, start) => {
    const [one, two] = [await start(), await start()]
    const before = [...(await one.deliver(30)), ...(await two.deliver(30))]
    remove(path, ['-wal'])
    await Promise.all([one.log('inbox_log_saved'), two.log('inbox_log_saved')])
    const after = [...(await deliverUntilHealed(one)), ...(await deliverUntilHealed(two))]
    await one.kill()
    await two.kill()
    expect([...one.logged('events_lost'), ...two.logged('events_lost')]).toEqual([])
    expect(idsIn(path)).toEqual(expect.arrayContaining([...before, ...after]))
  }))

it('records an outcome once the log is saved, and runs the event once', () =>
  withFile(async (path, start) => {
    const one = await start(path, 2)
    const [id] = await one.deliver(1)
    await one.next(({ kind }) => kind === 'begins')
    remove(path, ['-wal', '-shm'])
    await one.log('inbox_log_saved')
    one.send('release')
    await until('nothing is left', async () => {
      const { pending, active } = await one.stats()
      return pending === 0 && active === 0
    })
    expect(one.lines.filter(({ kind }) => kind === 'begins')).toEqual([{ kind: 'begins', id }])
    await one.kill()
    expect(idsIn(path)).toEqual([])
  }))

it.each([
  ['is dead', true],
  ...inFull<readonly (readonly [string, boolean])[]>([['lives', false]], []),
] as const)(
  'writes nothing, and says what is lost, if another process has opened the file since and %s',
  (_, isKilled) =>
    withFile(async (path, start) => {
      const one = await start()
      expect(await one.deliver(20)).toHaveLength(20)
      one.signal('SIGSTOP')
      remove(path, ['-wal', '-shm'])
      const two = await start()
      const others = await two.deliver(20)
      expect(others).toHaveLength(20)
      if (isKilled) await two.kill()
      const logBefore = readFileSync(`${path}-wal`)
      one.signal('SIGCONT')
      expect(await one.log('events_lost')).toMatchObject({ level: 'error' })
      expect(await one.deliver(1)).toEqual([])
      expect(readFileSync(`${path}-wal`).subarray(0, logBefore.length).equals(logBefore)).toBe(true)
      await one.close()
      await two.kill()
      expect(idsIn(path)).toEqual(expect.arrayContaining([...others]))
    }),
)

it('says how many events only it has when its file is deleted, and handles them as long as it lives', () =>
  withFile(async (path, start) => {
    const one = await start(path, 1)
    expect(await one.deliver(3)).toHaveLength(3)
    await one.next(({ kind }) => kind === 'begins')
    remove(path, FILES)
    expect(await one.log('inbox_file_lost')).toMatchObject({ level: 'error', events: 3 })
    expect(await one.deliver(1)).toEqual([])
    await until('all have run', () => {
      one.send('release')
      return one.lines.filter(({ kind }) => kind === 'ends').length === 3
    })
    await one.close()
    expect(FILES.some(suffix => existsSync(path + suffix))).toBe(false)
  }))

itInFull('accepts nothing while its folder is moved, and has lost nothing at the new place or back', () =>
  withFolder(async folder => {
    const [home, away] = [join(folder, 'home'), join(folder, 'away')]
    mkdirSync(home)
    const one = await FileProcess.start(join(home, 'inbox.db'))
    try {
      const before = await one.deliver(20)
      renameSync(home, away)
      await one.log('inbox_file_lost')
      expect(await one.deliver(1)).toEqual([])
      renameSync(away, home)
      await one.log('inbox_file_back')
      const after = await deliverUntilHealed(one)
      renameSync(home, away)
      await until('it sees that', () => one.logged('inbox_file_lost').length === 2)
      await one.kill()
      expect(idsIn(join(away, 'inbox.db'))).toEqual(expect.arrayContaining([...before, ...after]))
    } finally {
      await one.kill()
    }
  }),
)

it('writes nothing to a file that was moved to its path, not even when it closes', () =>
  withFile(async (path, start) => {
    const old = await start()
    const kept = await old.deliver(5)
    await old.close()
    copyFileSync(path, `${path}.backup`)
    const one = await start(path, 1)
    expect(await one.deliver(5)).toHaveLength(5)
    await one.next(({ kind }) => kind === 'begins')
    remove(path, ['-wal', '-shm'])
    renameSync(`${path}.backup`, path)
    const bytes = readFileSync(path)
    expect(await one.log('inbox_file_lost')).toMatchObject({ level: 'error', events: 10 })
    expect(await one.deliver(1)).toEqual([])
    one.send('release')
    await one.next(({ kind }) => kind === 'ends')
    await one.close()
    expect(readFileSync(path).equals(bytes)).toBe(true)
    expect([existsSync(`${path}-wal`), existsSync(`${path}-shm`)]).toEqual([false, false])
    expect(one.lines.filter(({ kind }) => kind === 'begins')).toHaveLength(1)
    expect(idsIn(path)).toEqual(kept)
  }))

it('says that an older copy was written over its file', () =>
  withFile(async (path, start) => {
    const empty = await start()
    await empty.close()
    copyFileSync(path, `${path}.backup`)
    const grown = await start()
    await grown.deliver(200)
    await grown.close()
    expect(statSync(path).size).toBeGreaterThan(statSync(`${path}.backup`).size)
    const one = await start()
    expect(await one.deliver(5)).toHaveLength(5)
    copyFileSync(`${path}.backup`, path)
    expect(await one.log('inbox_file_lost')).toMatchObject({ level: 'error' })
    expect(await one.deliver(1)).toEqual([])
    await one.close()
    expect(readFileSync(path).equals(readFileSync(`${path}.backup`))).toBe(true)
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)
  }))

itInFull('says what is lost when its log is replaced by another one', () =>
  withFile(async (path, start) => {
    const first = await start()
    await first.deliver(5)
    await first.kill()
    copyFileSync(`${path}-wal`, `${path}.old-log`)
    const one = await start()
    expect(await one.deliver(20)).toHaveLength(20)
    renameSync(`${path}.old-log`, `${path}-wal`)
    expect(await one.log('events_lost')).toMatchObject({ level: 'error' })
    expect(await one.deliver(1)).toEqual([])
    await one.close()
  }),
)

it('accepts nothing while its file has a second name, and does not start with one', () =>
  withFile(async (path, start) => {
    const one = await start()
    const before = await one.deliver(5)
    linkSync(path, `${path}.link`)
    await one.log('inbox_file_lost')
    expect(await one.deliver(1)).toEqual([])
    const two = await start(`${path}.link`)
    expect(two.lines.at(-1)).toMatchObject({
      kind: 'refused',
      code: 'configuration_invalid',
      message: expect.stringMatching(/second name \(a hard link\)/),
    })
    rmSync(`${path}.link`)
    await one.log('inbox_file_back')
    const after = await deliverUntilHealed(one)
    await one.kill()
    expect(idsIn(path)).toEqual(expect.arrayContaining([...before, ...after]))
  }))

itInFull('watches the log of the file that a symbolic link names', () =>
  withFolder(async folder => {
    mkdirSync(join(folder, 'data'))
    const real = join(folder, 'data', 'real.db')
    const link = join(folder, 'inbox.db')
    symlinkSync(real, link)
    const one = await FileProcess.start(link)
    try {
      const before = await one.deliver(20)
      remove(real, ['-wal'])
      await one.log('inbox_log_saved')
      const after = await deliverUntilHealed(one)
      await one.kill()
      expect(idsIn(real)).toEqual(expect.arrayContaining([...before, ...after]))
    } finally {
      await one.kill()
    }
  }),
)

it('says what is lost when its log is cut', () =>
  withFile(async (path, start) => {
    const one = await start()
    expect(await one.deliver(20)).toHaveLength(20)
    truncateSync(`${path}-wal`, 0)
    expect(await one.log('events_lost')).toMatchObject({ level: 'error' })
    expect(await one.deliver(5)).toEqual([])
  }))

itInFull('saves the log when it closes, and deletes none that another process has left', () =>
  withFile(async (path, start) => {
    const one = await start()
    const saved = await one.deliver(10)
    remove(path, ['-wal'])
    await one.close()
    expect(idsIn(path)).toEqual(saved)
    const two = await start()
    expect(await two.deliver(10)).toHaveLength(10)
    two.signal('SIGSTOP')
    remove(path, ['-wal', '-shm'])
    const three = await start()
    const others = await three.deliver(10)
    await three.kill()
    two.send('close')
    two.signal('SIGCONT')
    await two.next(({ kind }) => kind === 'closed')
    expect(two.logged('inbox_file_lost')).toHaveLength(1)
    expect(idsIn(path)).toEqual([...saved, ...others])
  }),
)

itInFull('takes no checkpoint, backup or other process for another file', () =>
  withFile(async (path, start) => {
    const one = await start(path, 2)
    const releasing = setInterval(() => one.send('release'), 20)
    const delivering = one.deliver(300)
    const other = new DatabaseSync(path)
    other.exec('PRAGMA busy_timeout = 5000')
    for (const sql of [
      'PRAGMA wal_checkpoint(TRUNCATE)',
      'VACUUM',
      'PRAGMA wal_checkpoint(TRUNCATE)',
      `VACUUM INTO '${path}.backup'`,
      'PRAGMA wal_checkpoint(PASSIVE)',
      'VACUUM; PRAGMA wal_checkpoint(TRUNCATE)',
    ])
      other.exec(sql)
    other.close()
    utimesSync(path, new Date(), new Date())
    expect(await delivering).toHaveLength(300)
    clearInterval(releasing)
    await one.close()
    const codes = ['inbox_file_lost', 'inbox_log_saved', 'events_lost']
    expect(codes.flatMap(code => one.logged(code))).toEqual([])
  }),
)

it("writes the log of a user's database back, and says what to do", () =>
  withFolder(async folder => {
    const path = join(folder, 'own.db')
    const database = new DatabaseSync(path)
    const logger = recordingLogger()
    const inbox = sqliteInbox({ database })
    await startInbox(inbox, { logger, concurrency: 0 })
    const deliveries = [newDelivery(), newDelivery()]
    for (const one of deliveries) expect(await inbox.accept(one)).toEqual({ outcome: 'accepted' })
    remove(path, ['-wal'])
    expect(await inbox.accept(newDelivery())).toMatchObject({ outcome: 'unavailable' })
    expect(logger.lines).toMatchObject([
      {
        fields: { code: 'inbox_log_saved', events: 2 },
        message: expect.stringMatching(/close the database and open it again/),
      },
    ])
    expect(idsIn(path)).toHaveLength(2)
    await inbox.close(100)
    database.close()
  }))

const canMount = process.platform === 'linux' && process.getuid?.() === 0

it.runIf(canMount)('starts on no file that is mounted by itself, and on one in a mounted folder', () =>
  withFolder(async folder => {
    const names = ['data', 'app', 'whole'].map(name => join(folder, name))
    const [data = '', app = '', whole = ''] = names
    for (const name of names) mkdirSync(name)
    const first = await FileProcess.start(join(data, 'inbox.db'))
    const before = await first.deliver(3)
    await first.close()
    writeFileSync(join(app, 'inbox.db'), '')
    execFileSync('mount', ['--bind', join(data, 'inbox.db'), join(app, 'inbox.db')])
    execFileSync('mount', ['--bind', data, whole])
    try {
      const refused = await FileProcess.start(join(app, 'inbox.db'))
      expect(refused.lines.at(-1)).toMatchObject({
        code: 'configuration_invalid',
        message: expect.stringMatching(/mounted as a single file.*Mount its folder instead/),
      })
      const one = await FileProcess.start(join(whole, 'inbox.db'))
      const after = await one.deliver(3)
      await one.kill()
      expect(idsIn(join(data, 'inbox.db'))).toEqual([...before, ...after])
    } finally {
      for (const name of [join(app, 'inbox.db'), whole]) execFileSync('umount', ['-l', name])
    }
  }),
)

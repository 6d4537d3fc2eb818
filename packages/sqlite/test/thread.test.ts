import { execFile } from 'node:child_process'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import type { Inbox } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { expect, it, vi } from 'vitest'
import { freePort } from '../../../test/support/free-port.ts'
import { until } from '../../../test/support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

it('replaces its thread when that dies, and loses nothing', () =>
  withFolder(async folder => {
    const threads: Worker[] = []
    const seeThread = (worker: Worker): void => void threads.push(worker)
    process.on('worker', seeThread)
    const inbox = sqliteInbox({ path: join(folder, 'inbox.db'), lease: '1s', poll: '20ms' })
    const { ran } = await startInbox(inbox)
    process.off('worker', seeThread)
    const before = Array.from({ length: 20 }, () => newDelivery())
    const answers = before.map(async one => inbox.accept(one))
    await threads[0]?.terminate()
    const acknowledged = (await Promise.all(answers)).flatMap(({ outcome }, index) =>
      outcome === 'accepted' ? [before[index]?.key] : [],
    )
    const after = newDelivery()
    await until('it accepts again', async () => (await inbox.accept(after)).outcome !== 'unavailable')
    const all = [...acknowledged, after.key]
    await until('every acknowledged event ran', () => all.every(key => ran.some(one => one.key === key)))
    await until('nothing is left', async () => {
      const { pending, active } = await inbox.stats()
      return pending + active === 0
    })
    expect(threads.length).toBe(1)
    await inbox.close(2000)
  }))

it('creates no new file when its thread is replaced while the file is moved away', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const threads: Worker[] = []
    const seeThread = (worker: Worker): void => void threads.push(worker)
    process.on('worker', seeThread)
    const inbox = sqliteInbox({ path, poll: '20ms' })
    await startInbox(inbox, { concurrency: 0 })
    process.off('worker', seeThread)
    await inbox.accept(newDelivery())
    const move = (from: string, to: string): void => {
      for (const suffix of ['', '-wal', '-shm']) renameSync(from + suffix, to + suffix)
    }
    move(path, join(folder, 'away.db'))
    await threads[0]?.terminate()
    const answer = async () => String(((await inbox.accept(newDelivery())) as { cause?: unknown }).cause)
    await vi.waitFor(async () => expect(await answer()).toMatch(/put it back, or restart/))
    expect(existsSync(path)).toBe(false)
    move(join(folder, 'away.db'), path)
    await until('it accepts again', async () => (await inbox.accept(newDelivery())).outcome === 'accepted')
    expect(await pendingOf(inbox)).toBe(2)
    await inbox.close(1000)
  }))

it('starts its thread even in a program run by --eval', () =>
  withFolder(async folder => {
    const program = `import { sqliteInbox } from '@ackhook/sqlite'
      const inbox = sqliteInbox(process.argv[1])
      console.log(JSON.stringify(await inbox.stats()))
      await inbox.close(0)`
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', program, join(folder, 'inbox.db')],
      { cwd: import.meta.dirname },
    )
    expect(JSON.parse(stdout)).toMatchObject({ pending: 0 })
  }))

/** Opens a port, as a metrics server does: a second time in one process is an error that ends it. */
const PRELOADS: Readonly<Record<string, string>> = {
  'first.cjs': `require('node:net').createServer().listen(PORT, '127.0.0.1').unref(); console.log('first')`,
  'second.mjs': `import { createServer } from 'node:net'; createServer().listen(PORT, '127.0.0.1').unref(); console.log('second')`,
}

it.each([
  [
    'flags',
    (first: string, second: string) => ({ flags: ['--require', first, '--import', second], options: '' }),
  ],
  [
    'NODE_OPTIONS',
    (first: string, second: string) => ({ flags: [], options: `--require "${first}" --import=${second}` }),
  ],
  ['both', (first: string, second: string) => ({ flags: ['-r', first], options: `--import ${second}` })],
])('runs no preload of the application again in its thread, given by %s', (_name, given) =>
  withFolder(async folder => {
    for (const [name, text] of Object.entries(PRELOADS))
      writeFileSync(join(folder, name), text.replace('PORT', String(await freePort())))
    const { flags, options } = given(join(folder, 'first.cjs'), join(folder, 'second.mjs'))
    const program = `import('@ackhook/sqlite').then(async ({ sqliteInbox }) => {
      const inbox = sqliteInbox(process.argv[1])
      console.log(JSON.stringify(await inbox.stats()))
      await inbox.close(0)
    })`
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...flags, '--eval', program, join(folder, 'inbox.db')],
      { cwd: import.meta.dirname, env: { ...process.env, NODE_OPTIONS: options } },
    )
    const lines = stdout.trim().split('\n')
    expect(lines.slice(0, -1).toSorted()).toEqual(['first', 'second'])
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ pending: 0 })
  }),
)

it('keeps using its file when the application changes its directory and the thread is replaced', () =>
  withFolder(async folder => {
    const before = process.cwd()
    const threads: Worker[] = []
    const seeThread = (worker: Worker): void => void threads.push(worker)
    // A Vitest thread cannot change its directory, so the test replaces the directory that the inbox reads.
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder)
    const inbox = sqliteInbox('inbox.db')
    cwd.mockRestore()
    process.on('worker', seeThread)
    await startInbox(inbox, { concurrency: 0 })
    process.off('worker', seeThread)
    await inbox.accept(newDelivery())
    await threads[0]?.terminate()
    await until('the event is in the file', async () => (await pendingOf(inbox)) === 1)
    expect(existsSync(join(folder, 'inbox.db'))).toBe(true)
    expect(existsSync(join(before, 'inbox.db'))).toBe(false)
    await inbox.close(1000)
  }))

/** Returns `undefined` while the thread is being replaced. */
async function pendingOf(inbox: Inbox): Promise<number | undefined> {
  try {
    return (await inbox.stats()).pending
  } catch {
    return undefined
  }
}

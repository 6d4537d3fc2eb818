import { join } from 'node:path'
import { createReceiver } from '@ackhook/core'
import type { PresenceStore, PublishedHandlers } from '@ackhook/core/spi'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it, vi } from 'vitest'
import { startInbox, withFolder } from './start-inbox.ts'

function publication(parts: Partial<PublishedHandlers> = {}): PublishedHandlers {
  const patterns = ['a.b', 'c.*']
  return {
    id: 'one',
    process: 'host:1',
    version: '1.0.0',
    startedAt: 1,
    patterns,
    onUnhandled: false,
    keepMs: 600_000,
    ...parts,
  }
}

/** Starts an inbox, and returns its board for publishing by hand. */
async function startWithBoard(path: string, own = publication()) {
  const inbox = sqliteInbox({ path, poll: '20ms' })
  let board: PresenceStore | undefined
  await startInbox(inbox, {
    handlers: {
      published: own,
      async share(shared) {
        board = shared.board
        await board.publish(own)
      },
    },
  })
  if (board === undefined) throw new Error('nothing was shared')
  return { inbox, board }
}

it('keeps published handlers across clock changes, even for tools that start nothing', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const { inbox } = await startWithBoard(path)
    await inbox.close(0)
    const now = Date.now()
    for (const setByMs of [-86_400_000, 86_400_000]) {
      const clock = vi.spyOn(Date, 'now').mockReturnValue(now + setByMs)
      const database = new DatabaseSync(path)
      const tool = sqliteInbox({ database })
      expect(await tool.processes?.()).toMatchObject([{ id: 'one', patterns: ['a.b', 'c.*'] }])
      await tool.close(0)
      database.close()
      clock.mockRestore()
    }
  }))

it('counts handlers published before a restart of the machine as seen at the next publication', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const { inbox, board } = await startWithBoard(path)
    const database = new DatabaseSync(path)
    database.exec('PRAGMA busy_timeout = 2000; UPDATE ackhook_processes SET seen_at = seen_at + 1000000000')
    const other = publication({ id: 'two' })
    await board.publish(other)
    const { processes } = await board.read()
    expect(processes.map(({ id }) => id)).toEqual(['one', 'two'])
    expect(processes[0]?.seenMs).toBeLessThan(60_000)
    await inbox.close(0)
    database.exec('UPDATE ackhook_processes SET seen_at = seen_at - keep_ms - 60000')
    database.close()
    const next = await startWithBoard(path, publication({ id: 'three' }))
    expect((await next.inbox.processes?.())?.map(({ id }) => id)).toEqual(['three'])
    await next.inbox.close(0)
  }))

it('starts once another process has ended a transaction that takes some seconds', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const first = await startWithBoard(path)
    const database = new DatabaseSync(path)
    database.exec('PRAGMA busy_timeout = 2000; BEGIN IMMEDIATE')
    const receiver = createReceiver({
      secret: 'whsec_0123456789abcdef0123456789abcdef',
      inbox: sqliteInbox(path),
    })
    receiver.on('a.b', () => {})
    const starting = receiver.start()
    await new Promise(resolve => setTimeout(resolve, 2000))
    database.exec('COMMIT')
    database.close()
    await starting
    expect(await first.inbox.processes?.()).toHaveLength(2)
    await receiver.close()
    await first.inbox.close(0)
  }))

it('does not start if it cannot publish', () =>
  withFolder(async folder => {
    const inbox = sqliteInbox({ path: join(folder, 'inbox.db') })
    const share = () => Promise.reject(new Error('no'))
    await expect(startInbox(inbox, { handlers: { published: publication(), share } })).rejects.toThrow('no')
    await startInbox(inbox)
    await inbox.close(0)
  }))

import { join } from 'node:path'
import { createReceiver } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it, vi } from 'vitest'
import { eventBody, recordingLogger, SECRET, signedRequest } from '../../../test/support/receiving.ts'
import { withFolder } from './start-inbox.ts'

function receive(
  inbox: ReturnType<typeof sqliteInbox>,
  options: Partial<Parameters<typeof createReceiver>[0]> = {},
) {
  const logger = recordingLogger()
  const receiver = createReceiver({ secret: SECRET, inbox, logger, ...options })
  const send = async (type: string, id: string) =>
    (await receiver.handle(signedRequest(eventBody({ id, type })))).status
  return { receiver, logger, send }
}

it('logs a pause with the command that ends it, and again in the next process', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    for (const isFirst of [true, false]) {
      const inbox = sqliteInbox({ path, poll: '20ms' })
      const { receiver, logger } = receive(inbox)
      receiver.on('*', () => {})
      await receiver.start()
      if (isFirst) await inbox.handling?.pause('order.paid')
      const paused = () => logger.lines.filter(({ fields }) => fields['code'] === 'handling_paused')
      await vi.waitFor(() => expect(paused()).toHaveLength(1))
      expect(paused()[0]?.message).toContain(
        `'npx ackhook inbox resume order.paid --sqlite ${path}' ends the pause`,
      )
      await receiver.close()
    }
  }))

it('logs a pause, and its end, in a process that only receives', () =>
  withFolder(async folder => {
    const inbox = sqliteInbox({ path: join(folder, 'inbox.db'), poll: '20ms' })
    const { receiver, logger, send } = receive(inbox, { concurrency: 0 })
    const told = () => logger.lines.map(({ fields }) => fields['code'])
    await inbox.handling?.pause('order.paid')
    await receiver.start()
    await send('order.paid', 'one')
    await vi.waitFor(() => expect(told()).toEqual(['handling_paused']))
    await inbox.handling?.resume()
    await send('order.paid', 'two')
    await vi.waitFor(() => expect(told()).toEqual(['handling_paused', 'handling_resumed']))
    await receiver.close()
  }))

it('can be asked of an inbox that has not started, as tools do, and of a user’s own database', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const database = new DatabaseSync(path)
    const own = sqliteInbox({ database })
    expect(await own.handling?.pause()).toBe(true)
    await own.close(1000)
    const tool = sqliteInbox({ path, create: false })
    expect(await tool.handling?.paused()).toMatchObject([{ since: expect.any(Number) }])
    expect(await tool.handling?.resume()).toBe(true)
    await tool.close(1000)
    database.close()
  }))

it('lets 20 quick events begin among 1,500 slow ones of another type at once, if that type has a limit', () =>
  withFolder(async folder => {
    const inbox = sqliteInbox({ path: join(folder, 'inbox.db'), poll: '20ms' })
    const { receiver, send } = receive(inbox, { concurrency: { total: 16, perType: 8 } })
    const ends: (() => void)[] = []
    let [slow, quick] = [0, 0]
    receiver.on('slow.one', () => {
      slow++
      return new Promise<void>(resolve => ends.push(resolve))
    })
    receiver.on('quick.one', () => void quick++)
    await receiver.start()
    for (let from = 0; from < 1500; from += 100)
      await Promise.all(Array.from({ length: 100 }, (_, i) => send('slow.one', `slow_${from + i}`)))
    await vi.waitFor(() => expect(slow).toBe(8))
    await Promise.all(Array.from({ length: 20 }, (_, i) => send('quick.one', `quick_${i}`)))
    await vi.waitFor(() => expect(quick).toBe(20), 20_000)
    expect(slow).toBe(8)
    for (const end of ends.splice(0)) end()
    await vi.waitFor(() => expect(slow).toBe(16), 20_000)
    const closed = receiver.close({ timeout: '5s' })
    for (const end of ends) end()
    await closed
  }))

import { join } from 'node:path'
import { createReceiver, type EventSchemas } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { expect, it, vi } from 'vitest'
import { recordingLogger, SECRET, signedRequest } from '../../../test/support/receiving.ts'
import { until } from '../../../test/support/until.ts'
import { withFolder } from './start-inbox.ts'

const TOO_STRICT: EventSchemas[string] = {
  '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'a new field' }] }) },
}

it('an event that a schema refused stays on disk as a dead letter, and runs once in the next version', () =>
  withFolder(async folder => {
    const version = (events: EventSchemas) => {
      const receiver = createReceiver({
        secret: SECRET,
        inbox: sqliteInbox({ path: join(folder, 'inbox.db'), poll: '20ms' }),
        logger: recordingLogger(),
        onInvalid: 'dead-letter',
        events,
      })
      const handled = vi.fn()
      receiver.on('*', handled)
      return { receiver, handled }
    }
    const strict = version({ 'conversation.resolved': TOO_STRICT })
    await strict.receiver.start()
    expect((await strict.receiver.handle(signedRequest())).status).toBe(202)
    await until('it is dead', async () => (await strict.receiver.stats()).dead === 1)
    await strict.receiver.close()
    expect(strict.handled).not.toHaveBeenCalled()
    const mended = version({})
    await mended.receiver.start()
    expect(await mended.receiver.deadLetters.redrive('evt_1')).toBe(true)
    await until('it is handled', () => mended.handled.mock.calls.length === 1)
    expect((await mended.receiver.handle(signedRequest())).status).toBe(200)
    await mended.receiver.close()
    expect(mended.handled).toHaveBeenCalledTimes(1)
  }))

import { join } from 'node:path'
import type { AttemptResult } from '@ackhook/core/spi'
import { sqliteInbox } from '@ackhook/sqlite'
import { expect, it } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

/** Values that a handler may throw and that cannot be described. */
const INDESCRIBABLE = {
  'an object without a prototype': Object.create(null),
  'a toString that throws': {
    toString() {
      throw new Error('no text')
    },
  },
  'a message that throws': Object.defineProperty(new Error(), 'message', {
    get() {
      throw new Error('no message')
    },
  }),
  'a proxy that was revoked': revoked(),
  'a symbol': Symbol('thrown'),
  'an empty string': '',
  undefined,
}

it.each(Object.keys(INDESCRIBABLE))('records an attempt that throws %s, and continues', name =>
  withFolder(async folder => {
    const inbox = sqliteInbox({ path: join(folder, 'inbox.db'), poll: '20ms' })
    const error: unknown = INDESCRIBABLE[name as keyof typeof INDESCRIBABLE]
    const results: AttemptResult[] = [
      { outcome: 'retry', delayMs: 0, error },
      { outcome: 'dead', error, notified: true },
    ]
    const { ran } = await startInbox(inbox, { concurrency: 1 }, async () => {
      return results.shift() ?? { outcome: 'completed' }
    })
    await inbox.accept(newDelivery())
    await until('it is a dead letter', async () => (await inbox.stats()).dead === 1)
    expect(await inbox.deadLetters.list()).toMatchObject([{ attempts: 2, reason: expect.any(String) }])
    await inbox.accept(newDelivery())
    await until('the next one ran', () => ran.length === 3)
    await inbox.close(1000)
  }),
)

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

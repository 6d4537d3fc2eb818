import type { PresenceDirectory } from '@ackhook/core/spi'
import { expect, test } from 'vitest'
import { BULLMQ_PLACES } from '../../../test/faults/bullmq/bullmq-places.ts'
import { closes } from '../../../test/faults/bullmq/closes.ts'
import { postgresEngine, redisEngine } from './engines.ts'
import { aPolicy, COMPLETED, unique, until } from './parts.ts'

closes(3, BULLMQ_PLACES)

test.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)('a call cut off by closing the connections to %s is not an outage', async (_, start) => {
  const engine = await start()
  let directory: PresenceDirectory | undefined
  try {
    // A lease that does not expire on a busy machine.
    const inbox = engine.inbox(unique('q'), { lease: '30s' })
    const published = {
      ...{ id: 'own', process: 'test', version: '1', startedAt: Date.now(), keepMs: 60_000 },
      ...{ patterns: ['a.b'], onUnhandled: false },
    }
    const policy = aPolicy({
      handlers: {
        published,
        namespace: '',
        location: undefined,
        share: async shared => {
          directory = shared
          await shared.begin()
        },
      },
    })
    await inbox.start(async () => COMPLETED, policy)
    let asked = 0
    const read = directory!.board.read.bind(directory!.board)
    Object.assign(directory!.board, {
      read: () => {
        asked++
        return read()
      },
    })
    await inbox.close(1000)
    // The directory reads the board until it is stopped, and finds no connection.
    const before = asked
    await until(() => asked > before + 1)
    // A slow machine may have made the store slow before the close: that is no outage.
    expect(policy.seen.filter(({ kind }) => kind !== 'store_slow')).toEqual([])
  } finally {
    directory?.stop()
    await engine.stop()
  }
})

import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hasCommit } from '../support/earlier-version.ts'
import { until } from '../support/until.ts'
import { INBOXES, redis, stopAfterAll } from './places.ts'
import { ROOT, RollingProcess } from './rolling-process.ts'
import { removeVersions, versionOf } from './versions.ts'

/** The last version with the forms from before the first release. */
const BEFORE = '09643bf9'
const isThere = await hasCommit(BEFORE)
if (!isThere) console.warn(`Skips the version before (${BEFORE}): this clone is shallow.`)

stopAfterAll()
afterAll(removeVersions)

const ids = (prefix: string): readonly string[] => Array.from({ length: 5 }, (_, i) => `${prefix}_${i}`)
const allOf = (process: RollingProcess, expected: readonly string[]) =>
  until('its own version handles all', () => expected.every(id => process.ids('ends').includes(id)))

// SQLite's file has a test of its own, which compares bytes: packages/sqlite/test/other-forms.test.ts.
describe.runIf(isThere)('the version before and this one', { timeout: 240_000 }, () => {
  let before: string
  beforeAll(async () => {
    before = (await versionOf(BEFORE)).folder
  }, 600_000)

  test.each(['bullmqInbox on Redis', 'bullmqInbox on PostgreSQL'])(
    'take nothing of each other: %s',
    async name => {
      const place = await INBOXES[name]!.place()
      // This version's events wait; the version before neither finds nor changes them.
      const current = await RollingProcess.start(ROOT, place, { concurrency: 0 })
      await current.deliver(ids('new'))
      const old = await RollingProcess.start(before, place)
      expect((await old.ask('stats'))['stats']).toMatchObject({ pending: 0, active: 0, dead: 0 })
      expect(await old.deliver(ids('new'))).toEqual(Object.fromEntries(ids('new').map(id => [id, 202])))
      await allOf(old, ids('new'))
      expect((await current.ask('stats'))['stats']).toMatchObject({ pending: 5 })
      await old.close()
      await current.close()

      // What the version before left is refused until that version has handled it.
      const leaving = await RollingProcess.start(before, place, { concurrency: 0 })
      await leaving.deliver(ids('old'))
      await leaving.kill()
      const refused = await RollingProcess.start(ROOT, place)
      expect(refused.refusal).toMatch(
        /There are events in .*let Ackhook at commit 09643bf9 handle or discard/,
      )
      const emptying = await RollingProcess.start(before, place)
      await allOf(emptying, ids('old'))
      await until('none is left', async () => {
        const { stats } = (await emptying.ask('stats')) as unknown as { stats: { active: number } }
        return stats.active === 0
      })
      await emptying.close()
      const working = await RollingProcess.start(ROOT, place)
      expect(working.refusal).toBeUndefined()
      await allOf(working, ids('new'))
      expect(working.ids('ends').filter(id => id.startsWith('old'))).toEqual([])
    },
  )

  test('take nothing of each other: ids in Redis', async () => {
    const place = await INBOXES['memoryInbox with redisStore']!.place()
    const current = await RollingProcess.start(ROOT, place)
    await current.deliver(ids('new'))
    await allOf(current, ids('new'))
    await current.close()
    const old = await RollingProcess.start(before, place)
    await old.deliver(ids('new'))
    await allOf(old, ids('new'))
    await old.close()
    const refused = await RollingProcess.start(ROOT, place)
    expect(refused.refusal).toMatch(/There are ids under the prefix 'ackhook:'.*run until they have expired/)
  })

  test('put messages of each other back into the queue: SQS', async () => {
    const place = await INBOXES['sqsInbox on a FIFO queue']!.place()
    const receiving = await RollingProcess.start(ROOT, place, { concurrency: 0 })
    await receiving.deliver(ids('new'))
    const counting = new Redis(`${(await redis()).url}/0`)
    onTestFinished(() => counting.disconnect())
    const old = await RollingProcess.start(before, { ...place, url: `${(await redis()).url}/0` })
    // It counts the messages that it could not read.
    await until(
      'the version before has seen a message',
      async () => (await counting.keys('ackhook:*')).length > 0,
    )
    expect(old.ids('begins')).toEqual([])
    await old.close()
    expect(old.lines.filter(({ code }) => code === 'message_unreadable')).toEqual([])
    const current = await RollingProcess.start(ROOT, place)
    await allOf(current, ids('new'))
  })
})

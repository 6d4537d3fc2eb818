import type { DeadLetter } from '@ackhook/core'
import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { DEAD, type Harness, inboxCase } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

const RETENTION_MS = 1500

/** `discardOlder` and `deadLetterRetentionMs`. */
export const retentionCases: readonly InboxCase[] = [
  inboxCase(
    'dead-older',
    'discardOlder deletes letters that failed before a time, the oldest first, and no more than its limit',
    async ({ start }) => {
      const harness = await start({ decide: () => DEAD })
      const letters: DeadLetter[] = []
      for (let i = 0; i < 4; i++) letters.push(await die(harness))
      const { deadLetters } = harness.inbox
      const failedBefore = letters[3]!.failedAt
      const now = (await deadLetters.now?.()) ?? Number.NaN
      expectThat(now >= failedBefore, `now is ${now}, before the last letter failed at ${failedBefore}`)
      expectEqual(await deadLetters.discardOlder?.({ failedBefore, limit: 2 }), 2, 'letters within the limit')
      expectEqual(await idsOf(harness), letters.slice(2).map(idOf), 'the letters left')
      expectEqual(await deadLetters.discardOlder?.({ failedBefore, limit: 2 }), 1, 'letters of that age')
      expectEqual(await deadLetters.discardOlder?.({ failedBefore, limit: 2 }), 0, 'letters after that')
      expectEqual(await idsOf(harness), [letters[3]!.id], 'the youngest letter')
      expectEqual((await harness.inbox.stats()).dead, 1, 'dead letters counted')
    },
    ['drops'],
  ),

  inboxCase(
    'dead-retention',
    'with deadLetterRetentionMs a dead letter is dropped once it is that old, and not before, and the drop is observed',
    async ({ start }) => {
      const harness = await start({ decide: () => DEAD, deadLetterRetentionMs: RETENTION_MS })
      const { id, key, failedAt } = await die(harness)
      let seenAt = Date.now()
      await until(async () => {
        const askedAt = Date.now()
        const isThere = (await harness.inbox.deadLetters.get(key)) !== undefined
        if (isThere) seenAt = askedAt
        return !isThere
      }, 'the dead letter is dropped')
      const goneAt = Date.now()
      expectThat(
        goneAt - failedAt >= RETENTION_MS,
        `${id} was dropped ${goneAt - failedAt} ms after it failed`,
      )
      expectThat(seenAt - failedAt < 20 * RETENTION_MS, `${id} was still there after ${seenAt - failedAt} ms`)
      const dropped = () => harness.observed.filter(({ kind }) => kind === 'dropped')
      await until(() => dropped().length > 0, 'the drop is observed')
      expectEqual(
        dropped(),
        [{ kind: 'dropped', cause: 'retention', dead: 1, waiting: 0 }],
        'the observations',
      )
    },
    ['drops'],
  ),
]

async function die(harness: Harness): Promise<DeadLetter> {
  const delivery = makeDelivery()
  await harness.accept(delivery)
  const found = () => harness.inbox.deadLetters.get(delivery.key)
  await until(async () => (await found()) !== undefined, 'the event is a dead letter')
  // So that no two letters fail at the same time.
  await pause(5)
  return (await found()) as DeadLetter
}

async function idsOf({ inbox }: Harness): Promise<readonly string[]> {
  return (await inbox.deadLetters.list({ order: 'oldest' })).map(idOf)
}

function idOf({ id }: DeadLetter): string {
  return id
}

import type { DeadLetter, Inbox } from '@ackhook/core'
import { type AttemptResult, letterGroup } from '@ackhook/core/spi'
import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { COMPLETED, type Harness, inboxCase } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

export const groupCases: readonly InboxCase[] = [
  inboxCase(
    'dead-groups',
    'dead letters are counted by event type, class and message without ids and numbers, the largest group first',
    async ({ start }) => {
      const failures = new Failures()
      const harness = await start({ decide: ({ id }) => failures.of(id) })
      const ids = {
        timeouts: await failures.die(
          harness,
          3,
          i => new Error(`no answer from "host ${i}" after ${i * 10} ms`),
        ),
        others: await failures.die(harness, 2, () => new TypeError('no answer from "host 1" after 10 ms')),
        sent: await failures.die(
          harness,
          1,
          () => new Error('no answer from "host 1" after 10 ms'),
          'order.sent',
        ),
      }
      const letters = new Map((await harness.inbox.deadLetters.list()).map(letter => [letter.id, letter]))
      const expected = [ids.timeouts, ids.others, ids.sent].map(of =>
        describe(of.map(id => letters.get(id)!)),
      )
      expectEqual(await groupsOf(harness.inbox), expected, 'the groups')
      const { groups, counted } = await readGroups(harness.inbox)
      expectEqual(counted, 6, 'letters counted')
      expectThat(
        groups.every(({ sample }) => sample.stack === undefined || sample.stack.includes('Error: no answer')),
        'a stack is that of an error of its group',
      )
      const { groups: largest, counted: all } = await readGroups(harness.inbox, 1)
      expectEqual([largest.map(({ count }) => count), all], [[3], 6], 'the largest group alone')
    },
    ['groups'],
  ),

  inboxCase(
    'dead-groups-list',
    "a group's dead letters are listed page by page, and only these are redriven or discarded",
    async ({ start }) => {
      const failures = new Failures()
      const harness = await start({ decide: ({ id }) => failures.of(id) })
      const { deadLetters } = harness.inbox
      const wanted: string[] = []
      for (let i = 0; i < 5; i++) {
        wanted.push(...(await failures.die(harness, 1, () => new Error(`contact ${i} is locked`))))
        await failures.die(harness, 1, () => new Error(`contact ${i} is gone`))
      }
      const { groups } = await readGroups(harness.inbox)
      const group = groups.find(({ sample }) => sample.reason.includes('locked'))?.group ?? ''
      expectEqual(await pagesOf(harness.inbox, group, 'oldest'), wanted, 'oldest first')
      expectEqual(await pagesOf(harness.inbox, group, 'newest'), wanted.toReversed(), 'newest first')
      expectEqual(await pagesOf(harness.inbox, '0'.repeat(14), 'newest'), [], 'letters of an unknown group')
      failures.clear()
      const [first, second, ...rest] = await deadLetters.list({ group })
      expectEqual([rest.length, first?.group], [3, group], 'letters in the group')
      expectThat((first?.body.length ?? 0) > 0, 'a listed letter has its body')
      await deadLetters.redrive(first?.key ?? '')
      await deadLetters.discard(second?.key ?? '')
      await until(async () => (await harness.inbox.stats()).active === 0, 'the redriven event is handled')
      const counts = (await readGroups(harness.inbox)).groups.map(({ sample, count }) => [
        sample.reason,
        count,
      ])
      expectEqual(
        counts.map(([reason, count]) => [String(reason).includes('locked'), count]),
        [
          [false, 5],
          [true, 3],
        ],
        'the groups afterwards',
      )
    },
    ['groups'],
  ),

  inboxCase(
    'dead-groups-again',
    'a redriven event that fails with another error changes its group',
    async ({ start }) => {
      const failures = new Failures()
      const harness = await start({ decide: ({ id }) => failures.of(id) })
      const [id = ''] = await failures.die(harness, 1, () => new Error('the database is gone'))
      failures.set(id, new Error('the disk is full'))
      const [letter] = await harness.inbox.deadLetters.list()
      await harness.inbox.deadLetters.redrive(letter?.key ?? '')
      await until(
        async () =>
          (await harness.inbox.deadLetters.get(letter?.key ?? ''))?.reason === 'Error: the disk is full',
        'it failed again',
      )
      const again = (await harness.inbox.deadLetters.list()).map(one => describe([one]))
      expectEqual(await groupsOf(harness.inbox), again, 'the groups')
    },
    ['groups'],
  ),
]

/** The errors with which events die. */
class Failures {
  readonly #errors = new Map<string, Error>()

  of(id: string): AttemptResult {
    const error = this.#errors.get(id)
    return error === undefined ? COMPLETED : { outcome: 'dead', error, notified: false }
  }

  set(id: string, error: Error): void {
    this.#errors.set(id, error)
  }

  clear(): void {
    this.#errors.clear()
  }

  /** Lets events die one after the other, at different times. Returns their ids. */
  async die(
    harness: Harness,
    count: number,
    error: (index: number) => Error,
    type = 'order.paid',
  ): Promise<readonly string[]> {
    const ids: string[] = []
    for (let index = 0; index < count; index++) {
      const delivery = makeDelivery({ type })
      ids.push(delivery.id)
      this.#errors.set(delivery.id, error(index))
      await harness.accept(delivery)
      const isDead = async () => (await harness.inbox.deadLetters.get(delivery.key)) !== undefined
      await until(isDead, 'the event is a dead letter')
      await pause(5)
    }
    return ids
  }
}

/** Facts of a group that must be those of its letters, the oldest letter first. */
function describe(letters: readonly DeadLetter[]): readonly unknown[] {
  const newest = letters.at(-1)!
  return [
    letterGroup(newest),
    newest.type,
    letters.length,
    letters[0]!.failedAt,
    newest.failedAt,
    [newest.key, newest.namespace, newest.id, newest.reason],
  ]
}

async function groupsOf(inbox: Inbox): Promise<readonly (readonly unknown[])[]> {
  const { groups } = await readGroups(inbox)
  return groups.map(({ group, type, count, firstFailedAt, lastFailedAt, sample }) => {
    const { key, namespace, id, reason } = sample
    return [group, type, count, firstFailedAt, lastFailedAt, [key, namespace, id, reason]]
  })
}

async function readGroups(inbox: Inbox, limit?: number) {
  const answer = await inbox.deadLetters.groups?.(limit === undefined ? {} : { limit })
  return answer ?? { groups: [], counted: 0 }
}

async function pagesOf(inbox: Inbox, group: string, order: 'newest' | 'oldest'): Promise<readonly string[]> {
  const ids: string[] = []
  for (let after: string | undefined; ; ) {
    const page = await inbox.deadLetters.list({ group, order, limit: 2, after })
    if (page.length === 0) return ids
    expectThat(page.length <= 2, 'a page has no more than its limit')
    ids.push(...page.map(({ id }) => id))
    after = page.at(-1)?.cursor
  }
}

import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { DEAD, type Harness, inboxCase } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

export const pageCases: readonly InboxCase[] = [
  inboxCase(
    'dead-pages',
    'pages of dead letters neither repeat nor skip a remaining letter, in both orders',
    async ({ start }) => {
      const harness = await start({ decide: () => DEAD })
      const { deadLetters } = harness.inbox
      const keys = await deadLettersIn(harness, 6)
      for (const order of ['oldest', 'newest'] as const) {
        const expected = order === 'oldest' ? [...keys] : keys.toReversed()
        const first = await deadLetters.list({ limit: 2, order })
        expectEqual(
          first.map(({ key }) => key),
          expected.slice(0, 2),
          `the first page, ${order} first`,
        )
        // The dead letter after which the next page begins is gone, and there is a new one.
        const gone = first.at(-1)
        await deadLetters.discard(gone?.key ?? '')
        keys.splice(keys.indexOf(gone?.key ?? ''), 1)
        keys.push(...(await deadLettersIn(harness, 1)))
        const rest: string[] = []
        for (let after = gone?.cursor; ; ) {
          const page = await deadLetters.list({ limit: 2, order, ...(after !== undefined && { after }) })
          rest.push(...page.map(({ key }) => key))
          if (page.length < 2) break
          after = page.at(-1)?.cursor
        }
        const stayed = expected.slice(2)
        if (order === 'oldest') stayed.push(keys.at(-1) ?? '')
        expectEqual(rest, stayed, `the pages after it, ${order} first`)
      }
    },
  ),

  inboxCase(
    'dead-pages-again',
    'a letter that dies again is the newest, and is on no page after the cursor',
    async ({ start }) => {
      const harness = await start({ decide: () => DEAD })
      const { deadLetters } = harness.inbox
      const keys = await deadLettersIn(harness, 3)
      const [newest] = await deadLetters.list({ limit: 1 })
      const runs = harness.runs.length
      expectEqual(await deadLetters.redrive(newest?.key ?? ''), true, 'the result of the redrive')
      await harness.run(runs)
      await until(async () => (await deadLetters.get(newest?.key ?? '')) !== undefined, 'it is dead again')
      const rest = await deadLetters.list({ ...(newest?.cursor !== undefined && { after: newest.cursor }) })
      expectEqual(
        rest.map(({ key }) => key),
        keys.toReversed().slice(1),
        'the next page',
      )
    },
  ),

  inboxCase('dead-cursor', 'a cursor that belongs to no letter is refused', async ({ start }) => {
    const { inbox } = await start()
    const refused = async (after: string) => {
      try {
        await inbox.deadLetters.list({ after })
        return false
      } catch (error) {
        return (error as { code?: unknown }).code === 'configuration_invalid'
      }
    }
    for (const after of ['', 'what?', "' OR 1=1"])
      expectThat(await refused(after), `'${after}' is refused with a ConfigurationError`)
  }),
]

/** Adds dead letters, one after another. Returns their keys, oldest first. */
async function deadLettersIn(harness: Harness, count: number): Promise<string[]> {
  const keys: string[] = []
  for (let index = 0; index < count; index++) {
    const delivery = makeDelivery()
    keys.push(delivery.key)
    await harness.accept(delivery)
    const isDead = async () => (await harness.inbox.deadLetters.get(delivery.key)) !== undefined
    await until(isDead, 'the event is a dead letter')
    await pause(2)
  }
  return keys
}

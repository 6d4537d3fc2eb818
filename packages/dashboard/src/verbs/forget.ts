import { ChangeRun } from './change-run.ts'
import { texts } from './fields.ts'
import { NAMESPACE } from './letter-fields.ts'
import { reportOf } from './report.ts'
import { eventsWithIds, inNamespace, isDead } from './targets.ts'
import { defineVerb, type Verb } from './verb.ts'

const MAX_IDS = 5000

/** Releases the ids of handled events, so that a replay of them runs. */
export const forget: Verb = defineVerb({
  name: 'forget',
  summary: 'Forget the ids of handled events, so that a replay runs them again',
  effect: 'A sender that repeats one of these events makes its handlers run a second time',
  changes: 'for good',
  words: { label: 'Forget', doing: 'Forgetting', done: 'forgotten', thing: 'event' },
  fields: { ids: texts('event ids', MAX_IDS, { isArgument: true }), namespace: NAMESPACE },
  takesTime: () => true,
  async run(call) {
    const { args, inbox } = call
    const run = new ChangeRun(call, {
      read: eventsWithIds(args.ids, args.namespace),
      total: args.ids.length,
      async apply(keys) {
        const forgotten = await Promise.all(keys.map(key => inbox.forget(key)))
        return keys.filter((_, i) => forgotten[i])
      },
      reasonOf: async ({ key, namespace }) =>
        (await isDead(inbox, key))
          ? 'a dead letter, which runs again at its next delivery anyway'
          : `not remembered as handled${inNamespace(namespace)}`,
    })
    await run.run()
    return reportOf(run, 'forgotten')
  },
})

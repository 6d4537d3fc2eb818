import { type Erased, eraseEvents } from '@ackhook/core/privacy'
import { Refused } from '../protocol/refused.ts'
import type { Block, Outcome } from '../protocol/verbs.ts'
import type { Words } from '../protocol/words.ts'
import { flag, optional, texts } from './fields.ts'
import { NAMESPACE } from './letter-fields.ts'
import { type Call, defineVerb, type Progress, type Verb } from './verb.ts'

interface EraseArgs {
  readonly where?: readonly string[] | undefined
  readonly namespace?: string | undefined
  readonly dryRun?: boolean | undefined
}

const MAX_CONDITIONS = 20
const EXAMPLE = 'data.contact_id=ct_1'

/** Deletes the waiting and dead events of one conversation or contact. */
export const erase: Verb = defineVerb({
  name: 'erase',
  summary: 'Delete the waiting and dead events of one conversation or contact',
  effect: 'They will not be handled, and nothing brings them back',
  changes: 'for good',
  readsBodies: true,
  words: { label: 'Erase', doing: 'Erasing', done: 'deleted' },
  fields: {
    where: optional(
      texts(`a value in the event, such as ${EXAMPLE}; repeatable`, MAX_CONDITIONS, { sign: 'path=value' }),
    ),
    namespace: NAMESPACE,
    dryRun: optional(flag('count what matches, and delete nothing')),
  },
  check: args => void whereOf(args),
  takesTime: ({ dryRun }) => dryRun !== true,
  async plan(call) {
    const { args } = call
    if (args.dryRun === true) return { args }
    const { dead, waiting } = await eraseEvents(call.inbox, { ...optionsOf(call), dryRun: true })
    // Nothing to delete, and nothing to ask.
    if (dead + waiting === 0) return { args: { ...args, dryRun: true } }
    const question = `Delete ${eventsOf({ dead, waiting })} for good? They will not be handled.`
    return { args, question }
  },
  async run(call) {
    const { args, inbox, caller } = call
    const { dryRun = false } = args
    if (!dryRun) call.progress(IN_PROGRESS)
    const erased = await eraseEvents(inbox, { ...optionsOf(call), dryRun })
    const { dead, waiting } = erased
    if (!dryRun && dead + waiting > 0) caller.observe({ kind: 'dropped', cause: 'erasure', dead, waiting })
    return report(erased, dryRun ? 'match' : 'deleted')
  },
})

/** How many match is known at the end only. */
const IN_PROGRESS: Progress = {
  state: 'changing',
  total: undefined,
  changed: 0,
  missed: 0,
  error: undefined,
  fates: undefined,
}

function optionsOf({ args, signal }: Call<EraseArgs>) {
  return { where: whereOf(args), namespace: args.namespace, signal }
}

function whereOf({ where = [] }: EraseArgs): Readonly<Record<string, string>> {
  if (where.length === 0)
    throw new Refused('invalid', [
      'give ',
      { field: 'where', value: '<path=value>' },
      ', such as ',
      { field: 'where', value: EXAMPLE },
    ])
  return Object.fromEntries(
    where.map(condition => {
      const at = condition.indexOf('=')
      if (at > 0) return [condition.slice(0, at), condition.slice(at + 1)]
      const words: Words = [{ field: 'where', value: condition }, ` must be path=value, such as ${EXAMPLE}`]
      throw new Refused('invalid', words)
    }),
  )
}

function eventsOf({ dead, waiting }: Pick<Erased, 'dead' | 'waiting'>): string {
  return `${dead} dead letters and ${waiting} waiting events`
}

/** It is not done if some of it is left: running events, and those that nobody can read here. */
function report(found: Erased, done: string): Outcome {
  const { scanned, running, unreadable } = found
  const notes = [
    ...(running > 0 ? [`${running} that match are running, and stay: repeat it once they have ended`] : []),
    ...(unreadable > 0
      ? [`${unreadable} cannot be read, such as sealed ones: call eraseEvents in the app, which has the key`]
      : []),
  ]
  return {
    isDone: running + unreadable === 0,
    data: found,
    blocks: [
      { kind: 'line', words: `${eventsOf(found)} ${done}, of ${scanned} events` },
      ...notes.map((words): Block => ({ kind: 'note', words })),
    ],
  }
}

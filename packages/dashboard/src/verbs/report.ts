import { describeRedrive } from '../protocol/outcome.ts'
import type { Block, Outcome } from '../protocol/verbs.ts'
import { say } from '../protocol/words.ts'
import type { ChangeRun } from './change-run.ts'

/** Says what was changed, and what became of it. It is not done if an event was refused, or failed again. */
export function reportOf(run: ChangeRun, done: string): Outcome {
  const { changed, refusals, isCut, error, fates, why, state } = run
  const followed = state === 'following' ? fates : undefined
  const { failed = 0, retrying = 0 } = followed ?? {}
  const line: Block = {
    kind: 'line',
    words: [`${changed} ${done}`, ...refusals.words, ...(isCut ? [', stopped before the end'] : [])],
  }
  return {
    isDone: refusals.count + failed + retrying === 0 && !isCut && error === undefined,
    data: {
      [done]: changed,
      ...refusals.data,
      ...(followed !== undefined && { outcome: followed }),
      ...(why !== undefined && { why: say(why) }),
      ...(error !== undefined && { error }),
    },
    blocks: [
      ...(followed === undefined || refusals.count > 0 ? [line] : []),
      ...(followed === undefined ? [] : followedBlocks(run, followed)),
      ...(error === undefined ? [] : [{ kind: 'note', words: error } as const]),
    ],
  }
}

function followedBlocks(
  { changed, why }: ChangeRun,
  outcome: NonNullable<ChangeRun['fates']>,
): readonly Block[] {
  const isOver = outcome.waiting === 0
  const said = describeRedrive({ changed, outcome, isOver })
  const result = isOver ? said : said.replace(/ …$/, '')
  const ending = why === undefined ? [] : [' (', ...(typeof why === 'string' ? [why] : why), ')']
  const errors = outcome.errors.map(({ group, count, reason }) => [
    `${count} × ${reason} (`,
    { field: 'group', value: group },
    ')',
  ])
  return [
    { kind: 'line', words: [result, ...ending] },
    ...(errors.length > 0 ? [{ kind: 'list', items: errors } as const] : []),
  ]
}

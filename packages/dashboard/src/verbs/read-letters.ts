import type { DeadLetterGroup } from '@ackhook/core'
import { readGroups } from '@ackhook/core/spi'
import { type EventHead, listEvents, MAX_LIMIT, MAX_REASON } from '../letters/list-letters.ts'
import { shorten } from '../letters/shorten.ts'
import type { Block, Outcome } from '../protocol/verbs.ts'
import type { Words } from '../protocol/words.ts'
import { choice, count, optional, preset, text } from './fields.ts'
import { isFiltered, LETTER_FIELDS, type LetterArgs, queryOf } from './letter-fields.ts'
import { type Call, defineVerb, type Verb } from './verb.ts'

/** Widths that, with the time and the attempts, fit into 80 columns, or into 96 with a namespace. */
const ID_COLUMNS = 20
const NAMESPACE_COLUMNS = 14
const TYPE_COLUMNS = 22

interface ListArgs extends LetterArgs {
  readonly limit: number
  readonly order: 'newest' | 'oldest'
  readonly after?: string | undefined
}

/** Lists dead letters. */
export const list: Verb = defineVerb({
  name: 'list',
  summary: 'List dead letters',
  changes: 'nothing',
  words: { label: 'List', doing: 'Listing', done: 'listed' },
  fields: {
    ...LETTER_FIELDS,
    limit: preset(count('at most this many'), 100),
    order: preset(choice('which to list first', ['newest', 'oldest'], { sign: 'which' }), 'newest'),
    after: optional(text('continue after the page that ended with this cursor', { sign: 'cursor' })),
  },
  run: listLetters,
})

async function listLetters(call: Call<ListArgs>): Promise<Outcome> {
  const { args, inbox } = call
  const letters = await readLetters(call)
  const cursor = letters.length === args.limit ? letters.at(-1)?.cursor : undefined
  const shown: Block = letters.length === 0 ? { kind: 'line', words: noneOf(args) } : lettersTable(letters)
  const total = cursor === undefined || isFiltered(args) ? undefined : (await inbox.stats()).dead
  const more = cursor !== undefined && (args.after !== undefined || total !== letters.length)
  const of = total === undefined ? '' : ` of ${total}`
  const note: Words = [
    `${letters.length}${of} dead letters. For more, add `,
    { field: 'after', value: cursor ?? '' },
  ]
  return {
    isDone: true,
    data: { deadLetters: letters.map(eventData) },
    blocks: [shown, ...(more ? [{ kind: 'note', words: note } as const] : [])],
  }
}

function noneOf(args: ListArgs): string {
  const which = args.after === undefined ? 'No' : 'No further'
  return isFiltered(args) ? `${which} dead letter matches.` : `${which} dead letters.`
}

async function readLetters({ args, inbox, caller }: Call<ListArgs>): Promise<readonly EventHead[]> {
  const { limit, order } = args
  const view = { inbox, redact: caller.redact }
  const query = { ...(await queryOf(args, view)), state: 'dead', order } as const
  const letters: EventHead[] = []
  for (let { after } = args; letters.length < limit; ) {
    const wanted = Math.min(limit - letters.length, MAX_LIMIT)
    const { events, next } = await listEvents(view, { ...query, after, limit: wanted })
    letters.push(...events)
    if (next === undefined) break
    after = next
  }
  return letters
}

function lettersTable(letters: readonly EventHead[]): Block {
  const hasNamespaces = letters.some(({ namespace }) => namespace !== '')
  return {
    kind: 'table',
    columns: [
      { title: 'ID', most: ID_COLUMNS },
      ...(hasNamespaces ? [{ title: 'NAMESPACE', most: NAMESPACE_COLUMNS }] : []),
      { title: 'TYPE', most: TYPE_COLUMNS },
      { title: 'FAILED' },
      { title: 'ATTEMPTS' },
      { title: 'REASON', isLong: true },
    ],
    rows: letters.map(({ id, namespace, type, failedAt = 0, attempts, reason = '' }) => [
      id,
      ...(hasNamespaces ? [namespace] : []),
      type,
      [{ at: failedAt }],
      String(attempts),
      reason,
    ]),
  }
}

/** An event as programs get it: without its key, which only pages use. */
export function eventData({ key: _, ...event }: Omit<EventHead, 'cursor'>): object {
  const { receivedAt, failedAt, ...fields } = event
  return {
    ...fields,
    receivedAt: isoOf(receivedAt),
    ...(failedAt !== undefined && { failedAt: isoOf(failedAt) }),
  }
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}

/** Counts dead letters by the kind of their error. */
export const groups: Verb = defineVerb({
  name: 'groups',
  summary: 'Count dead letters by event type and error, the largest group first',
  changes: 'nothing',
  words: { label: 'Groups', doing: 'Counting', done: 'counted' },
  fields: { limit: preset(count('at most this many groups'), 100) },
  async run({ args, inbox, caller }) {
    const { groups, counted, isPartial } = await readGroups(inbox.deadLetters, { limit: args.limit })
    const found = groups.map(group => shownGroup(group, caller.redact))
    const shown = found.reduce((sum, one) => sum + one.count, 0)
    const table: Block = counted === 0 ? { kind: 'line', words: 'No dead letters.' } : groupsTable(found)
    const smaller: Words = [
      `${counted - shown} dead letters are in smaller groups: raise `,
      { field: 'limit' },
    ]
    return {
      isDone: true,
      data: { groups: found.map(groupData), counted, ...(isPartial && { isPartial }) },
      blocks: [
        table,
        ...(shown < counted ? [{ kind: 'note', words: smaller } as const] : []),
        ...(isPartial
          ? [{ kind: 'note', words: `Only the ${counted} newest dead letters were counted.` } as const]
          : []),
      ],
    }
  },
})

function shownGroup(
  { sample, ...group }: DeadLetterGroup,
  redact: Call<unknown>['caller']['redact'],
): DeadLetterGroup {
  const { reason, stack, ...event } = sample
  const about = { id: event.id, type: group.type, namespace: event.namespace }
  const shown = (given: string) => shorten(redact(given, about), MAX_REASON)
  return {
    ...group,
    sample: { ...event, reason: shown(reason), ...(stack !== undefined && { stack: shown(stack) }) },
  }
}

function groupsTable(groups: readonly DeadLetterGroup[]): Block {
  return {
    kind: 'table',
    columns: [
      { title: 'GROUP' },
      { title: 'COUNT' },
      { title: 'TYPE', most: TYPE_COLUMNS },
      { title: 'LAST FAILED' },
      { title: 'LAST ERROR', isLong: true },
    ],
    rows: groups.map(({ group, count, type, lastFailedAt, sample }) => [
      group,
      String(count),
      type,
      [{ at: lastFailedAt }],
      sample.reason,
    ]),
  }
}

function groupData({ firstFailedAt, lastFailedAt, sample, ...group }: DeadLetterGroup): object {
  const { key: _, ...shown } = sample
  return {
    ...group,
    firstFailedAt: isoOf(firstFailedAt),
    lastFailedAt: isoOf(lastFailedAt),
    sample: shown,
  }
}

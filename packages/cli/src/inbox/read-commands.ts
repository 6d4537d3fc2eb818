import type { DeadLetter, DeadLetterGroup, Inbox } from '@ackhook/core'
import { printable, readGroups } from '@ackhook/core/spi'
import stringWidth from 'fast-string-width'
import { EXIT } from '../command/exit-codes.ts'
import { shorten, table } from '../terminal/text.ts'
import { matchesTarget } from './dead-letter-pages.ts'
import { checkFilter, failedByOf, isFiltered } from './filter.ts'
import type { GroupsFlags, ListFlags } from './inbox-flags.ts'
import { timeOf, toJson } from './show.ts'
import { type InboxParts, withInbox } from './with-inbox.ts'

const PAGE = 500
/** Widths that, with the time and the attempts, fit into 80 columns, or into 96 with a namespace. */
const ID_COLUMNS = 20
const NAMESPACE_COLUMNS = 14
const TYPE_COLUMNS = 22

export function list(flags: ListFlags, parts: InboxParts): Promise<number> {
  const { terminal } = parts
  return withInbox(flags, parts, async inbox => {
    checkFilter(flags)
    const letters = await readLetters(flags, inbox)
    if (flags.json) {
      terminal.out(JSON.stringify({ deadLetters: letters.map(letter => toJson(letter)) }))
      return EXIT.ok
    }
    if (letters.length === 0) terminal.out(noneOf(flags))
    else for (const line of linesOf(letters, terminal.columns)) terminal.out(line)
    const cursor = letters.length === flags.limit ? letters.at(-1)?.cursor : undefined
    if (cursor === undefined) return EXIT.ok
    const total = isFiltered(flags) ? undefined : (await inbox.stats()).dead
    if (flags.after !== undefined || total !== letters.length) {
      const of = total === undefined ? '' : ` of ${total}`
      terminal.err(`${letters.length}${of} dead letters. For more, add --after ${cursor}`)
    }
    return EXIT.ok
  })
}

function noneOf(flags: ListFlags): string {
  const which = flags.after === undefined ? 'No' : 'No further'
  return isFiltered(flags) ? `${which} dead letter matches.` : `${which} dead letters.`
}

type Listed = Omit<DeadLetter, 'body'>

/** Reads up to `limit` letters without keeping their bodies, of which one page may hold 4 MiB. */
async function readLetters(flags: ListFlags, inbox: Inbox): Promise<readonly Listed[]> {
  const { limit, order, after: start } = flags
  const filter = { ...flags, failedBy: await failedByOf(flags, inbox) }
  const letters: Listed[] = []
  for (let after = start; letters.length < limit; ) {
    // The number of letters to read is unknown if a filter drops some of them.
    const wanted = isFiltered(flags) ? PAGE : limit - letters.length
    const page = await inbox.deadLetters.list({
      limit: wanted,
      order,
      ...(flags.group !== undefined && { group: flags.group }),
      ...(after !== undefined && { after }),
    })
    if (page.length === 0) break
    after = page.at(-1)?.cursor
    for (const { body: _, ...letter } of page) {
      if (matchesTarget(filter, letter)) letters.push(letter)
    }
  }
  return letters.slice(0, limit)
}

/** Formats letters: in full for a pipe or file, shortened to the width of a terminal. */
function linesOf(letters: readonly Listed[], columns: number | undefined): readonly string[] {
  const whole = table(rowsOf(letters))
  if (columns === undefined || whole.every(line => stringWidth(line) <= columns)) return whole
  return table(rowsOf(letters, columns), columns)
}

function rowsOf(letters: readonly Listed[], columns?: number): readonly (readonly string[])[] {
  const hasNamespaces = letters.some(({ namespace }) => namespace !== '')
  const fit = (text: string, most: number) =>
    columns === undefined ? printable(text) : shorten(printable(text), Math.min(most, columns))
  const row = (id: string, namespace: string, ...others: readonly string[]) =>
    hasNamespaces ? [id, namespace, ...others] : [id, ...others]
  return [
    row('ID', 'NAMESPACE', 'TYPE', 'FAILED', 'ATTEMPTS', 'REASON'),
    ...letters.map(({ id, namespace, type, failedAt, attempts, reason }) =>
      row(
        fit(id, ID_COLUMNS),
        fit(namespace, NAMESPACE_COLUMNS),
        fit(type, TYPE_COLUMNS),
        timeOf(failedAt),
        String(attempts),
        // The reason moves to an indented line below its row.
        fit(reason, (columns ?? 0) - 4),
      ),
    ),
  ]
}

/** Prints the dead letters by the kind of their error, the largest group first. */
export function groups(flags: GroupsFlags, parts: InboxParts): Promise<number> {
  const { terminal } = parts
  return withInbox(flags, parts, async inbox => {
    const { groups: found, counted, isPartial } = await readGroups(inbox.deadLetters, { limit: flags.limit })
    if (flags.json) {
      terminal.out(
        JSON.stringify({ groups: found.map(groupToJson), counted, ...(isPartial && { isPartial }) }),
      )
      return EXIT.ok
    }
    if (counted === 0) terminal.out('No dead letters.')
    else for (const line of table(groupRowsOf(found, terminal.columns), terminal.columns)) terminal.out(line)
    const shown = found.reduce((sum, { count }) => sum + count, 0)
    if (shown < counted) terminal.err(`${counted - shown} dead letters are in smaller groups: raise --limit`)
    if (isPartial) terminal.err(`Only the ${counted} newest dead letters were counted.`)
    return EXIT.ok
  })
}

function groupRowsOf(
  groups: readonly DeadLetterGroup[],
  columns: number | undefined,
): readonly (readonly string[])[] {
  const fit = (text: string, most: number) =>
    columns === undefined ? printable(text) : shorten(printable(text), Math.max(8, most))
  return [
    ['GROUP', 'COUNT', 'TYPE', 'LAST FAILED', 'LAST ERROR'],
    ...groups.map(({ group, count, type, lastFailedAt, sample }) => [
      group,
      String(count),
      fit(type, TYPE_COLUMNS),
      timeOf(lastFailedAt),
      fit(sample.reason, (columns ?? 0) - 4),
    ]),
  ]
}

function groupToJson({ firstFailedAt, lastFailedAt, sample, ...group }: DeadLetterGroup): object {
  const { key: _, ...shown } = sample
  return {
    ...group,
    firstFailedAt: timeOf(firstFailedAt),
    lastFailedAt: timeOf(lastFailedAt),
    sample: shown,
  }
}

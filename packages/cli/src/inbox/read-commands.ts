import type { DeadLetter, DeadLetterGroup, Inbox } from '@ackhook/core'
import { type MinuteCount, printable, readGroups } from '@ackhook/core/spi'
import stringWidth from 'fast-string-width'
import { EXIT } from '../command/exit-codes.ts'
import { createPaint, shorten, table } from '../terminal/text.ts'
import { matchesTarget } from './dead-letter-pages.ts'
import { checkFilter, failedByOf, isFiltered } from './filter.ts'
import type { GroupsFlags, InboxFlags, ListFlags } from './inbox-flags.ts'
import { describePauses } from './pause-and-resume.ts'
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
  const filter = { ...flags, failedBy: failedByOf(flags) }
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

export function stats(flags: InboxFlags, parts: InboxParts): Promise<number> {
  const { terminal } = parts
  return withInbox(flags, parts, async inbox => {
    const [counts, minutes, paused = []] = await Promise.all([
      inbox.stats(),
      inbox.throughput?.(),
      inbox.handling?.paused(),
    ])
    const lastHour = minutes && lastHourOf(minutes)
    if (flags.json) {
      terminal.out(JSON.stringify({ ...counts, ...(lastHour && { lastHour }) }))
      return EXIT.ok
    }
    const { bad } = createPaint(terminal.colors)
    const rows = [
      ['pending', String(counts.pending)],
      ['active', String(counts.active)],
      ['dead', String(counts.dead)],
      ['oldest', `${Math.round(counts.oldestPendingMs / 1000)} s`],
      ...(paused.length > 0 ? [['paused', describePauses(paused)]] : []),
      ...(lastHour === undefined ? [] : [['last hour', describe(lastHour)]]),
      ...(counts.waitingError === undefined
        ? []
        : [['last error', shorten(printable(counts.waitingError), (terminal.columns ?? 1024) - 12)]]),
    ]
    for (const line of table(rows))
      terminal.out(line.startsWith('dead') && counts.dead > 0 ? bad(line) : line)
    return EXIT.ok
  })
}

interface LastHour {
  readonly received: number
  readonly handled: number
  readonly deadLettered: number
}

function lastHourOf(minutes: readonly MinuteCount[]): LastHour {
  const sumOf = (name: keyof LastHour) => minutes.reduce((sum, minute) => sum + (minute[name] ?? 0), 0)
  return { received: sumOf('received'), handled: sumOf('handled'), deadLettered: sumOf('deadLettered') }
}

/** Compares arrivals with completions, to show whether the queue grew. */
function describe({ received, handled, deadLettered }: LastHour): string {
  const growth = received - handled - deadLettered
  const verdict = growth > 0 ? `the queue grew by ${growth}` : `the queue shrank by ${-growth}`
  const dead = deadLettered === 0 ? '' : `, ${deadLettered} dead-lettered`
  return `${received} received, ${handled} handled${dead}: ${growth === 0 ? 'the queue stayed the same' : verdict}`
}

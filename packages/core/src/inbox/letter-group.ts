import type { DeadLetter, DeadLetterGroup, DeadLetterStore, GroupOptions, LetterGroups } from './inbox.ts'

/** Stands for everything in a message that differs from event to event. */
const PART = '#'
/** Characters of a normalized message that count. */
const MAX_TEXT = 500
const MAX_REASON = 8192
/** An id shorter than this may be part of any word. */
const MIN_ID = 4
/** `TypeError` of `TypeError: x is undefined`. An id before a colon is not one: it has a `_` or `-`. */
const CLASS = /^[a-z$][a-z\d$.]{0,99}(?=:)/i

/** Each alternative reads a text once: a message is the handler's, and may contain anything that a sender has written. */
const PARTS = new RegExp(
  [
    // Text in quotes. An apostrophe between letters is none.
    '"[^"\\n]{0,2000}"|`[^`\\n]{0,2000}`|“[^”\\n]{0,2000}”|«[^»\\n]{0,2000}»|(?<!\\w)\'[^\'\\n]{0,2000}\'(?!\\w)',
    // URLs, mail addresses, IP addresses with their ports.
    '\\b[a-z][a-z\\d+.-]{1,20}://[^\\s"\'`<>)\\]}]{1,2000}',
    '\\b[\\w.+-]{1,64}@[\\w-]{1,63}(?:\\.[\\w-]{1,63}){1,8}',
    '\\b\\d{1,3}(?:\\.\\d{1,3}){3}(?::\\d{1,5})?\\b',
    '\\[?(?<![\\w:])(?=[\\da-f]{0,4}:[\\da-f]{0,4}:)[\\da-f]{0,4}(?::[\\da-f]{0,4}){2,8}(?:%\\w{1,16})?(?:\\.\\d{1,3}){0,3}\\]?(?::\\d{1,5})?(?!\\w)',
    // UUIDs and other hexadecimal digits, in groups or not.
    '\\b(?=[\\da-f-]{0,40}\\d)[\\da-f]{4,40}(?:-[\\da-f]{4,40}){1,8}\\b',
    '\\b[\\da-f]{8,}\\b',
    // Ids with a short prefix, such as cnv_kQzRtWpXyAbC.
    '\\b[a-z]{2,5}_(?:(?=[A-Za-z]*[A-Z])[A-Za-z]{8,}|[a-z]{12,})\\b',
    // Numbers, with sign and digits after a point, and words that contain a digit.
    '(?:(?<![\\w)])[-+])?\\b\\w*\\d\\w*(?:[.,]\\d\\w*)*',
  ].join('|'),
  'gi',
)
/** Several of them in a row are a list, whose length differs too. */
const LISTS = /#(?:[\s,;|/]{1,8}#)+/g

/** What a fingerprint depends on. */
export type GroupedLetter = Pick<DeadLetter, 'id' | 'type' | 'reason'>

/**
 * Returns the fingerprint of a dead letter: equal for letters of one event type whose errors have the same class and,
 * apart from ids, numbers, quoted text, addresses and hexadecimal digits, the same message. Inboxes compute it when they
 * store a letter, so that all of them group alike.
 */
export function letterGroup({ id, type, reason }: GroupedLetter): string {
  return hash(`${type}\n${normalizeReason(reason, id)}`)
}

/** Returns a reason with `#` for each part that differs from event to event. The class of the error stays as it is. */
export function normalizeReason(reason: string, id = ''): string {
  const whole = reason.slice(0, MAX_REASON)
  const [name = ''] = CLASS.exec(whole) ?? []
  const message = whole.slice(name.length)
  const text = id.length < MIN_ID ? message : message.replaceAll(id, PART)
  const normal = text.replace(PARTS, PART).replace(LISTS, PART).replace(/\s+/g, ' ').trim()
  return (name + normal).slice(0, MAX_TEXT)
}

/** 53 bits as 14 hexadecimal digits, without a promise: two of a million texts are equal once in 18,000 inboxes. */
function hash(text: string): string {
  let [low, high] = [0xdeadbeef, 0x41c6ce57]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    low = Math.imul(low ^ code, 2654435761)
    high = Math.imul(high ^ code, 1597334677)
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  return (4294967296 * (2097151 & high) + (low >>> 0)).toString(16).padStart(14, '0')
}

/** A letter to be counted. Its body is not needed. */
export type CountedLetter = Omit<DeadLetter, 'body' | 'cursor' | 'attempts' | 'receivedAt'> & {
  readonly stack?: string | undefined
}

interface Count {
  readonly group: string
  count: number
  firstFailedAt: number
  newest: CountedLetter
}

/** Counts letters by group, in any order. */
export class GroupCount {
  readonly #groups = new Map<string, Count>()
  /** Letters counted. */
  counted = 0

  add(letter: CountedLetter): void {
    const group = groupOf(letter)
    const known = this.#groups.get(group)
    this.counted++
    if (known === undefined) {
      this.#groups.set(group, { group, count: 1, firstFailedAt: letter.failedAt, newest: letter })
      return
    }
    known.count++
    if (letter.failedAt < known.firstFailedAt) known.firstFailedAt = letter.failedAt
    if (letter.failedAt > known.newest.failedAt) known.newest = letter
  }

  /** Returns the largest groups. */
  list(limit: number = DEFAULT_GROUPS): readonly DeadLetterGroup[] {
    const groups = Array.from(this.#groups.values(), ({ group, count, firstFailedAt, newest }) => {
      const { key, namespace, id, type, reason, failedAt, stack } = newest
      const sample = { key, namespace, id, reason, ...(stack !== undefined && { stack }) }
      return { group, type, count, firstFailedAt, lastFailedAt: failedAt, sample }
    })
    return groups.sort(largestFirst).slice(0, limit)
  }
}

/** Groups listed without a `limit`. */
export const DEFAULT_GROUPS: number = 100

/** The order of groups: by count, then the one that failed last. */
export function largestFirst(
  a: Pick<DeadLetterGroup, 'count' | 'lastFailedAt'>,
  b: Pick<DeadLetterGroup, 'count' | 'lastFailedAt'>,
): number {
  return b.count - a.count || b.lastFailedAt - a.lastFailedAt
}

/** Returns the group that the inbox has given a letter, or that it would have. */
export function groupOf(letter: GroupedLetter & Pick<DeadLetter, 'group'>): string {
  return letter.group ?? letterGroup(letter)
}

/** Letters that {@link readGroups} reads from an inbox that cannot count groups. */
const MAX_READ = 10_000
const PAGE = 500

/** Returns the groups of an inbox. If it cannot count them, reads its newest 10,000 letters. */
export async function readGroups(
  letters: Pick<DeadLetterStore, 'groups' | 'list'>,
  options: GroupOptions = {},
): Promise<LetterGroups> {
  if (letters.groups !== undefined) return letters.groups(options)
  const count = new GroupCount()
  let after: string | undefined
  while (count.counted < MAX_READ) {
    const page = await letters.list({ limit: PAGE, after })
    for (const letter of page) count.add(letter)
    after = page.at(-1)?.cursor
    if (after === undefined) return { groups: count.list(options.limit), counted: count.counted }
  }
  return { groups: count.list(options.limit), counted: count.counted, isPartial: true }
}

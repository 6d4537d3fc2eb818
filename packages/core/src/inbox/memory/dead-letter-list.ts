import { ConfigurationError, describeError, stackOf } from '../../errors/errors.ts'
import { copyBody } from '../../lib/copy-body.ts'
import { onceAMinute } from '../../lib/once-a-minute.ts'
import type { Delivery } from '../delivery.ts'
import type { DeadLetter, GroupOptions, LetterGroups, ListOptions, ProcessingPolicy } from '../inbox.ts'
import { GroupCount, letterGroup } from '../letter-group.ts'

interface Kept {
  readonly letter: DeadLetter
  readonly delivery: Delivery
  readonly stack: string | undefined
}

/** Where dropped letters are reported. */
type Reporting = Pick<ProcessingPolicy, 'logger' | 'observe'>

const MAX_KEPT = 1000
const MAX_PAGE_BYTES = 4_194_304

/** The newest dead letters of one process, each with its delivery for a redrive. */
export class DeadLetterList {
  readonly #kept = new Map<string, Kept>()
  readonly #reportDrop = onceAMinute<{ letter: DeadLetter; reporting: Reporting }>(
    ({ letter: { id, type, namespace }, reporting }, more, _, why) =>
      reporting.logger.warn(
        { code: 'dead_letter_dropped', event: id, type, namespace },
        `The dead letter of event ${id} (${type}) was dropped${more}: ${why}. Save dead letters in onDeadLetter, or use a durable inbox.`,
      ),
  )
  #next = 0
  /** Total size of all bodies. */
  bytes = 0

  get size(): number {
    return this.#kept.size
  }

  put(
    delivery: Delivery,
    failure: { attempts: number; error: unknown; failedAt: number },
    reporting: Reporting,
  ): void {
    const { key, namespace, id, type, body, receivedAt, trace } = delivery
    const { attempts, error, failedAt } = failure
    const reason = describeError(error)
    const cursor = String(this.#next++)
    const group = letterGroup({ id, type, reason })
    const letter = {
      ...{ key, namespace, id, type, body, receivedAt, failedAt, attempts, reason, group, cursor },
      ...(trace && { trace }),
    }
    this.remove(key)
    this.#kept.set(key, { letter, delivery, stack: stackOf(error) })
    this.bytes += body.length
    if (this.#kept.size > MAX_KEPT)
      this.drop(Number.POSITIVE_INFINITY, `${MAX_KEPT} newer ones are kept`, reporting)
  }

  /** Drops the oldest letters, except that of `key`, until count and size are within bounds. */
  drop(maxBytes: number, why: string, reporting: Reporting, key = ''): void {
    const most = maxBytes + (this.#kept.get(key)?.letter.body.length ?? 0)
    let dropped = 0
    for (const [oldest, { letter }] of this.#kept) {
      if (this.#kept.size <= MAX_KEPT && this.bytes <= most) break
      if (oldest === key || !this.remove(oldest)) continue
      dropped++
      this.#reportDrop(why, { letter, reporting })
    }
    if (dropped > 0) reporting.observe({ kind: 'dropped', cause: 'capacity', dead: dropped, waiting: 0 })
  }

  /** Returns one page: at most `limit` letters and 4 MiB of bodies, but at least one letter. */
  list({ limit = 100, after, order, group }: ListOptions = {}): readonly DeadLetter[] {
    const page: DeadLetter[] = []
    let bytes = 0
    for (const letter of this.all({ after, order, group })) {
      bytes += letter.body.length
      if (page.length === limit || (page.length > 0 && bytes > MAX_PAGE_BYTES)) break
      page.push(letter)
    }
    return page
  }

  /** Returns every letter in order, after a cursor. */
  all({ after, order = 'newest', group }: Omit<ListOptions, 'limit'> = {}): readonly DeadLetter[] {
    const from = parseCursor(after)
    const letters = Array.from(this.#kept.values(), ({ letter }) => letter)
    if (order === 'newest') letters.reverse()
    return letters.filter(
      letter =>
        (group === undefined || letter.group === group) &&
        (from === undefined ||
          (order === 'newest' ? Number(letter.cursor) < from : Number(letter.cursor) > from)),
    )
  }

  groups({ limit }: GroupOptions = {}): LetterGroups {
    const count = new GroupCount()
    for (const { letter, stack } of this.#kept.values()) count.add({ ...letter, stack })
    return { groups: count.list(limit), counted: count.counted }
  }

  get(key: string): DeadLetter | undefined {
    const found = this.#kept.get(key)
    return found && copyBody(found.letter)
  }

  deliveryOf(key: string): Delivery | undefined {
    return this.#kept.get(key)?.delivery
  }

  remove(key: string): boolean {
    this.bytes -= this.#kept.get(key)?.letter.body.length ?? 0
    return this.#kept.delete(key)
  }
}

/** Parses a cursor of this inbox, which is a sequence number. */
export function parseCursor(after: string | undefined): number | undefined {
  if (after === undefined) return undefined
  if (/^\d{1,15}$/.test(after)) return Number(after)
  throw new ConfigurationError('after', `must be the cursor of the last item of a page; got '${after}'`)
}

import { ConfigurationError, describeError } from '../../errors/errors.ts'
import { copyBody } from '../../lib/copy-body.ts'
import type { Delivery } from '../delivery.ts'
import type { DeadLetter, ListOptions } from '../inbox.ts'

const MAX_KEPT = 1000

/** The newest dead letters of one process, each with its delivery for a redrive. */
export class DeadLetterList {
  readonly #kept = new Map<string, { readonly letter: DeadLetter; readonly delivery: Delivery }>()
  #next = 0

  get size(): number {
    return this.#kept.size
  }

  put(delivery: Delivery, failure: { attempts: number; error: unknown; failedAt: number }): void {
    const { key, namespace, id, type, body, receivedAt } = delivery
    const { attempts, error, failedAt } = failure
    const reason = describeError(error)
    const cursor = String(this.#next++)
    const letter = { key, namespace, id, type, body, receivedAt, failedAt, attempts, reason, cursor }
    this.#kept.delete(key)
    this.#kept.set(key, { letter, delivery })
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value as string)
  }

  list({ limit = 100, after, order = 'newest' }: ListOptions = {}): readonly DeadLetter[] {
    const from = parseCursor(after)
    const letters = Array.from(this.#kept.values(), ({ letter }) => letter)
    if (order === 'newest') letters.reverse()
    if (from === undefined) return letters.slice(0, limit)
    const comesAfter = ({ cursor }: DeadLetter) =>
      order === 'newest' ? Number(cursor) < from : Number(cursor) > from
    return letters.filter(comesAfter).slice(0, limit)
  }

  get(key: string): DeadLetter | undefined {
    const found = this.#kept.get(key)
    return found && copyBody(found.letter)
  }

  deliveryOf(key: string): Delivery | undefined {
    return this.#kept.get(key)?.delivery
  }

  remove(key: string): boolean {
    return this.#kept.delete(key)
  }
}

/** The place that a cursor of this inbox names: a sequence number. */
export function parseCursor(after: string | undefined): number | undefined {
  if (after === undefined) return undefined
  if (/^\d{1,15}$/.test(after)) return Number(after)
  throw new ConfigurationError('after', `must be the cursor of the last item of a page; got '${after}'`)
}

import { describeError } from '../../errors/errors.ts'
import { copyBody } from '../../lib/copy-body.ts'
import type { Delivery } from '../delivery.ts'
import type { DeadLetter, ListOptions } from '../inbox.ts'
import { parseCursor } from './parse-cursor.ts'

const MAX_KEPT = 1000

/** The newest dead letters of one process, each with its delivery for a redrive. */
export class DeadLetterList {
  readonly #letters = new Map<
    string,
    { readonly letter: DeadLetter; readonly delivery: Delivery; readonly sequence: number }
  >()
  #next = 0

  get size(): number {
    return this.#letters.size
  }

  put(delivery: Delivery, failure: { attempts: number; error: unknown; failedAt: number }): void {
    const { key, namespace, id, type, body, receivedAt } = delivery
    const { attempts, error, failedAt } = failure
    const reason = describeError(error)
    const sequence = this.#next++
    const cursor = String(sequence)
    const letter = { key, namespace, id, type, body, receivedAt, failedAt, attempts, reason, cursor }
    this.#letters.delete(key)
    this.#letters.set(key, { letter, delivery, sequence })
    if (this.#letters.size > MAX_KEPT) this.#letters.delete(this.#letters.keys().next().value as string)
  }

  list({ limit = 100, after, order = 'newest' }: ListOptions = {}): readonly DeadLetter[] {
    const from = parseCursor(after)
    const inOrder = [...this.#letters.values()]
    if (order === 'newest') inOrder.reverse()
    return inOrder
      .filter(
        ({ sequence }) => from === undefined || (order === 'newest' ? sequence < from : sequence > from),
      )
      .slice(0, limit)
      .map(({ letter }) => letter)
  }

  get(key: string): DeadLetter | undefined {
    const found = this.#letters.get(key)
    return found && copyBody(found.letter)
  }

  deliveryOf(key: string): Delivery | undefined {
    return this.#letters.get(key)?.delivery
  }

  remove(key: string): boolean {
    return this.#letters.delete(key)
  }

  /** Removes the letter, and answers what it was. */
  take(key: string): Delivery | undefined {
    if (this.size === 0) return undefined
    const found = this.#letters.get(key)
    if (found === undefined) return undefined
    this.remove(key)
    return found.delivery
  }
}

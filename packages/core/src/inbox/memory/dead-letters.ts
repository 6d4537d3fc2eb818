import { describeError } from '../../errors/errors.ts'
import type { Delivery } from '../delivery.ts'
import type { DeadLetter } from '../inbox.ts'

const MAX_KEPT = 1000

/** The dead letters of one process, the newest {@link MAX_KEPT} of them, with their deliveries for a redrive. */
export interface DeadLetterShelf {
  readonly size: number
  put(delivery: Delivery, about: { attempts: number; error: unknown; failedAt: number }): void
  list(limit: number): readonly DeadLetter[]
  get(key: string): DeadLetter | undefined
  deliveryOf(key: string): Delivery | undefined
  remove(key: string): boolean
}

export function createDeadLetterShelf(): DeadLetterShelf {
  const letters = new Map<string, { readonly letter: DeadLetter; readonly delivery: Delivery }>()
  return {
    get size() {
      return letters.size
    },
    put(delivery, { attempts, error, failedAt }) {
      letters.delete(delivery.key)
      const { key, namespace, id, type, body, receivedAt } = delivery
      const reason = describeError(error)
      const letter = { key, namespace, id, type, body, receivedAt, failedAt, attempts, reason }
      letters.set(key, { letter, delivery })
      // One eviction at most, and from a map that is never large: the first key is found at once.
      if (letters.size > MAX_KEPT) letters.delete(letters.keys().next().value as string)
    },
    list: limit =>
      [...letters.values()]
        .reverse()
        .slice(0, limit)
        .map(kept => kept.letter),
    get: key => letters.get(key)?.letter,
    deliveryOf: key => letters.get(key)?.delivery,
    remove: key => letters.delete(key),
  }
}

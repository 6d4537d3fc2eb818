import { randomUUID } from 'node:crypto'

/** Characters at the beginning of each token that say which process holds the lock. The servers compare as many. */
export const OWNER_LENGTH = 36

declare const owned: unique symbol

/**
 * Proves the lock of one take. It begins with the id of its process, so that a server can tell the process's own later take
 * of a job from another process's (`own` and `taken` of `Relocked`): the first continues an attempt, the second ends it.
 * Only {@link LockTokens} makes one.
 */
export type LockToken = string & { readonly [owned]: true }

/** Makes the tokens of one process. */
export class LockTokens {
  readonly #owner = randomUUID()
  #count = 0

  next(): LockToken {
    return `${this.#owner}:${this.#count++}` as LockToken
  }
}

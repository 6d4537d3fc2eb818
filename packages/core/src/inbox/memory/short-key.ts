import { eventKey } from '../../events/event-key.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'

/** As long as every hash: an id of this length could be the hash of another one. */
const HASH_LENGTH = 22
const SHORT = /^[\w-]{1,40}$/

/**
 * The key of an event in the memory of one process: its id, where that is short and plain, otherwise the hash.
 * `JSON.parse` copies an id, so that none keeps its body alive. perf: note 34.
 */
export function shortKey(namespace: string, id: string): MaybePromise<string> {
  const isShort = namespace === '' && id.length !== HASH_LENGTH && SHORT.test(id)
  return isShort ? id : eventKey(namespace, id)
}

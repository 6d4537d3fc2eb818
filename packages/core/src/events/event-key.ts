import { platform } from '#platform'
import type { MaybePromise } from '../lib/maybe-promise.ts'

/**
 * The key under which an event is remembered: a hash of namespace and id. The length in front keeps
 * `('a', 'bc')` and `('ab', 'c')` apart; the hash keeps every store's key short, whatever the platform puts
 * into an id, and never holds the request's text alive. 128 bits: a collision becomes likely only at about 2^64 ids.
 */
export function eventKey(namespace: string, id: string): MaybePromise<string> {
  return platform.hashText(`${namespace.length}:${namespace}${id}`)
}

/** A map that forgets: it holds the last `size` entries at least and twice as many at most. */
export interface Recent<Value> {
  put(key: string, value: Value): void
  take(key: string): Value | undefined
}

/**
 * Two generations instead of an order of age: an event may be handled by another process, and then nobody ever
 * takes its entry out.
 */
export function createRecent<Value>(size: number): Recent<Value> {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()
  return {
    put(key, value) {
      if (young.size >= size) {
        old = young
        young = new Map()
      }
      young.set(key, value)
    },
    take(key) {
      const value = young.get(key) ?? old.get(key)
      young.delete(key)
      old.delete(key)
      return value
    },
  }
}

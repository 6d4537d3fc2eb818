import { setTimeout } from 'node:timers'
import { isDeepStrictEqual } from 'node:util'

/** Throws a plain `Error` with both values unless they are deeply equal. */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return
  throw new Error(`${what}: expected ${show(expected)}, got ${show(actual)}`)
}

/** Throws a plain `Error` unless the condition holds. */
export function expectThat(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what)
}

/** Waits long enough for a forbidden effect to show. */
export function pause(ms = 100): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    one instanceof Uint8Array ? `<${one.length} bytes>` : one,
  )
}

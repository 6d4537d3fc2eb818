import { isDeepStrictEqual } from 'node:util'

/** Throws a plain `Error` with both values unless they are equal in depth. */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return
  throw new Error(`${what}: expected ${show(expected)}, got ${show(actual)}`)
}

/** Throws a plain `Error` unless the condition holds. */
export function expectThat(condition: boolean, what: string): void {
  if (!condition) throw new Error(what)
}

const WAIT_MS = 20_000

/** Resolves once the condition holds; rejects after 20 seconds. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  waitMs: number = WAIT_MS,
): Promise<void> {
  const giveUpAt = performance.now() + waitMs
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error(`waited ${waitMs} ms in vain until ${what}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

/** A moment in which what must not happen has time to happen. */
export function moment(ms = 100): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    one instanceof Uint8Array ? `<${one.length} bytes>` : one,
  )
}

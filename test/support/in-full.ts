import { it } from 'vitest'

const IS_FULL = process.env['IN_FULL'] === '1'

/** Returns the first value in the fault run, `test:pages` and `test:packed`; by default the second, a shorter wait or smaller load. */
export function inFull<T>(full: T, short: T): T {
  return IS_FULL ? full : short
}

/** A test for those runs only: a variant of one in the default run. */
export const itInFull = it.runIf(IS_FULL)

/** Returns what declares the test of a suite's case: by default, cases of `long` are left to the fault run. */
export function itUnlessLong(id: string, long: readonly string[] | RegExp) {
  const isLong = long instanceof RegExp ? long.test(id) : long.includes(id)
  return isLong ? itInFull : it
}

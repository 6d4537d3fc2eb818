import { it } from 'vitest'

const IS_FAULT_RUN = process.env['IN_FULL'] === '1'

/** The first in the fault run, `npm run test:faults`; the second, a shorter wait or a smaller load, by default. */
export function inFull<T>(full: T, short: T): T {
  return IS_FAULT_RUN ? full : short
}

/** A test of the fault run alone: a variant of one that the default run has. */
export const itInFull = it.runIf(IS_FAULT_RUN)

import { platform } from '#platform'
import type { Timeouts } from './platform.ts'

/** Timeouts of one length, in milliseconds, each of them cheaper than a timer if the platform allows. */
export const createTimeouts: (ms: number) => Timeouts = platform.createTimeouts

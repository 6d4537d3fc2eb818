import { platform } from '#platform'
import type { Timeouts } from './platform.ts'

/** Creates timeouts of one length, in milliseconds, each cheaper than a timer if the platform allows. */
export const createTimeouts: (ms: number) => Timeouts = platform.createTimeouts

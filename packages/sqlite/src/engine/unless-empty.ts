import { type Fault, isFault } from '../protocol/fault.ts'

/** Nothing for an empty list: it would cross to the other thread for nothing. A fault stays. perf: note 44. */
export function unlessEmpty<T extends readonly unknown[] | Fault>(part: T): T | undefined {
  return isFault(part) || part.length > 0 ? part : undefined
}

import { type Fault, isFault } from '../protocol/fault.ts'

/** Returns `undefined` for an empty list, to save sending it to the other thread. Keeps a fault. perf: note 44. */
export function unlessEmpty<T extends readonly unknown[] | Fault>(part: T): T | undefined {
  return isFault(part) || part.length > 0 ? part : undefined
}

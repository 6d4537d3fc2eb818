import { kindOf } from './kinds.ts'
import type { KeyOf } from './names.ts'
import { DEEPEST } from './room.ts'

/**
 * Returns eight hexadecimal digits that are the same for values of the same fields and kinds, in any order. Each key and
 * value is read once: a path is a number, made from that of its parent.
 */
export function shapeHash(value: unknown, keyOf: KeyOf): string {
  const seen = new Set<number>()
  let sum = 0
  const collect = (one: unknown, path: number, depth: number): void => {
    const hash = mixed(path, kindOf(one))
    if (!seen.has(hash)) {
      seen.add(hash)
      // A sum has no order.
      sum = (sum + Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)) >>> 0
    }
    if (typeof one !== 'object' || one === null || depth === DEEPEST) return
    if (Array.isArray(one)) for (const item of one) collect(item, mixed(path, ITEMS), depth + 1)
    else
      for (const [name, inside] of Object.entries(one))
        collect(inside, extended(path, keyOf(name)), depth + 1)
  }
  collect(value, 0x811c9dc5, 0)
  return sum.toString(16).padStart(8, '0')
}

/** Stands for the items of an array, beside the kinds. */
const ITEMS = 1 << 20

function mixed(hash: number, value: number): number {
  return Math.imul(hash ^ value, 0x01000193) >>> 0
}

function extended(path: number, name: string): number {
  let hash = mixed(path, name.length)
  for (let at = 0; at < name.length; at++) hash = mixed(hash, name.charCodeAt(at))
  return hash
}

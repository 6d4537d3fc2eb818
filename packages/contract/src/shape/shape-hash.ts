import { kindOf } from './kinds.ts'
import { keyOf } from './shape.ts'

/** Returns eight hexadecimal digits that are the same for values of the same fields and kinds, in any order. */
export function shapeHash(value: unknown): string {
  const paths = new Set<string>()
  collect(value, '', paths)
  let hash = 0x811c9dc5
  for (const path of [...paths].sort())
    for (let at = 0; at < path.length; at++) hash = Math.imul(hash ^ path.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}

function collect(value: unknown, path: string, paths: Set<string>): void {
  paths.add(`${path}:${kindOf(value)};`)
  if (typeof value !== 'object' || value === null) return
  const isArray = Array.isArray(value)
  for (const [name, one] of Object.entries(value))
    collect(one, isArray ? `${path}[]` : `${path}.${keyOf(name)}`, paths)
}

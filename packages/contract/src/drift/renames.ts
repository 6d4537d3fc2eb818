import { nearest } from '@ackhook/core/spi'
import { KIND } from '../shape/kinds.ts'
import { ANY_KEY } from '../shape/names.ts'
import type { Shape } from '../shape/shape.ts'

/** Most pairs that are compared by their letters. Whoever changes more at once has not renamed fields. */
const MOST_PAIRS = 400

/**
 * Pairs fields that are missing with new ones of the same kind that look like them: first by their names, then those that
 * are the only ones of their kind. Returns the new name of each.
 */
export function findRenames(
  missing: ReadonlyMap<string, Shape>,
  added: ReadonlyMap<string, Shape>,
): ReadonlyMap<string, string> {
  const renames = new Map<string, string>()
  const left = new Map([...added].filter(([name]) => name !== ANY_KEY))
  if (missing.size * left.size > MOST_PAIRS) return renames
  const pair = (name: string, found: string | undefined): void => {
    if (found === undefined || renames.has(name)) return
    renames.set(name, found)
    left.delete(found)
  }
  for (const [name, shape] of missing) pair(name, alike(name, ofKind(left, shape)))
  for (const [name, shape] of missing) {
    const rivals = [...missing].filter(([other, one]) => !renames.has(other) && sameKind(one, shape))
    const candidates = ofKind(left, shape)
    if (rivals.length === 1 && candidates.length === 1) pair(name, candidates[0])
  }
  return renames
}

function alike(name: string, candidates: readonly string[]): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '')
  const similar = (other: string): boolean =>
    plain(other) === plain(name) || other.split(/[_.-]/).includes(name) || name.split(/[_.-]/).includes(other)
  return candidates.find(similar) ?? nearest(name, candidates)
}

function ofKind(fields: ReadonlyMap<string, Shape>, shape: Shape): readonly string[] {
  return [...fields].filter(([, one]) => sameKind(one, shape)).map(([name]) => name)
}

/** A field that may be null is of the kind of its other values, and a text that was a time may be one. */
function sameKind(one: Shape, other: Shape): boolean {
  const own = one.kinds & ~KIND.null
  const others = other.kinds & ~KIND.null
  return own !== 0 && (own & others) !== 0
}

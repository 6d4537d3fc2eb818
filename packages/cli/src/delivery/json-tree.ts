/** JSON that keeps what `JSON.parse` loses: the digits of numbers, the order of keys, and keys that come twice. */
export type JsonTree = JsonScalar | JsonArray | JsonObject

interface JsonScalar {
  /** As written. */
  readonly text: string
}

interface JsonArray {
  readonly items: readonly JsonTree[]
}

interface JsonObject {
  readonly members: readonly (readonly [key: string, value: JsonTree])[]
}

/** White space, then a token. */
const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+)/y

/** Parses valid JSON. Throws for any other text, and for one that is nested too deeply. */
export function parseTree(text: string): JsonTree {
  JSON.parse(text)
  const tokens = new RegExp(TOKEN)
  const next = () => tokens.exec(text)?.[1] ?? ''
  return treeFrom(next(), next)
}

function treeFrom(token: string, next: () => string): JsonTree {
  if (token === '[') {
    const items: JsonTree[] = []
    for (let one = next(); one !== ']'; one = next()) if (one !== ',') items.push(treeFrom(one, next))
    return { items }
  }
  if (token !== '{') return { text: token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token }
  const members: [string, JsonTree][] = []
  for (let one = next(); one !== '}'; one = next()) {
    if (one === ',') continue
    next() // The colon.
    members.push([JSON.parse(one) as string, treeFrom(next(), next)])
  }
  return { members }
}

/** White space that a writer of JSON adds. */
export interface JsonLayout {
  /** Between the elements of one line; ignored with `indent`. */
  readonly comma: string
  readonly colon: string
  /** Of each level, for a line an element. */
  readonly indent?: string
}

/** Deepest indentation: with more, the length would grow by the depth of each line. */
export const DEEPEST_INDENT = 16

export function writeTree(tree: JsonTree, layout: JsonLayout): string {
  const pieces: string[] = []
  writeInto(pieces, tree, layout, 0)
  return pieces.join('')
}

/** Adds the pieces of a tree: joining those of each level would copy a deep tree as often as it has levels. */
function writeInto(pieces: string[], tree: JsonTree, layout: JsonLayout, level: number): void {
  if ('text' in tree) {
    pieces.push(tree.text)
    return
  }
  const { comma, colon, indent } = layout
  const isList = 'items' in tree
  const parts = isList ? tree.items.map(one => [undefined, one] as const) : tree.members
  const [outer, inner] = [level, level + 1].map(depth =>
    indent === undefined || parts.length === 0 ? '' : `\n${indent.repeat(Math.min(depth, DEEPEST_INDENT))}`,
  ) as [string, string]
  const between = indent === undefined ? comma : `,${inner}`
  pieces.push(isList ? '[' : '{', inner)
  for (const [at, [key, one]] of parts.entries()) {
    if (at > 0) pieces.push(between)
    if (key !== undefined) pieces.push(JSON.stringify(key), colon)
    writeInto(pieces, one, layout, level + 1)
  }
  pieces.push(outer, isList ? ']' : '}')
}

/** Returns the tree with the members of each object in another order. */
export function reordered(tree: JsonTree, order: (a: string, b: string) => number): JsonTree {
  if ('text' in tree) return tree
  if ('items' in tree) return { items: tree.items.map(one => reordered(one, order)) }
  const members = tree.members.map(([key, one]) => [key, reordered(one, order)] as const)
  return { members: members.sort(([a], [b]) => order(a, b)) }
}

/** Returns the tree with other texts of its numbers. `rewrite` gets the place of each, the first being 0. */
export function renumbered(tree: JsonTree, rewrite: (text: string, place: number) => string): JsonTree {
  let place = 0
  const visit = (one: JsonTree): JsonTree => {
    if ('items' in one) return { items: one.items.map(visit) }
    if ('members' in one) return { members: one.members.map(([key, value]) => [key, visit(value)] as const) }
    return /^[-\d]/.test(one.text) ? { text: rewrite(one.text, place++) } : one
  }
  return visit(tree)
}

/** Returns the texts of all numbers. */
export function numbersOf(tree: JsonTree): readonly string[] {
  const found: string[] = []
  renumbered(tree, text => {
    found.push(text)
    return text
  })
  return found
}

/** Returns the keys of all objects. */
export function keysOf(tree: JsonTree): readonly string[] {
  const found: string[] = []
  const visit = (one: JsonTree): void => {
    if ('items' in one) one.items.forEach(visit)
    if (!('members' in one)) return
    for (const [key, value] of one.members) {
      found.push(key)
      visit(value)
    }
  }
  visit(tree)
  return found
}

/** Returns how many arrays and objects are inside of each other. */
export function levelsOf(tree: JsonTree): number {
  if ('text' in tree) return 0
  const inside = 'items' in tree ? tree.items : tree.members.map(([, one]) => one)
  return 1 + inside.reduce((most, one) => Math.max(most, levelsOf(one)), 0)
}

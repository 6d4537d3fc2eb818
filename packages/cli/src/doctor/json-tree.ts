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

export function writeTree(tree: JsonTree, layout: JsonLayout, level = ''): string {
  if ('text' in tree) return tree.text
  const { comma, colon, indent } = layout
  const inner = indent === undefined ? '' : `${level}${indent}`
  const parts =
    'items' in tree
      ? tree.items.map(one => writeTree(one, layout, inner))
      : tree.members.map(([key, one]) => `${JSON.stringify(key)}${colon}${writeTree(one, layout, inner)}`)
  const [open, close] = 'items' in tree ? '[]' : '{}'
  if (indent === undefined || parts.length === 0) return `${open}${parts.join(comma)}${close}`
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${level}${close}`
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
  if ('text' in tree) return []
  if ('items' in tree) return tree.items.flatMap(keysOf)
  return tree.members.flatMap(([key, one]) => [key, ...keysOf(one)])
}

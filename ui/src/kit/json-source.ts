/** A JSON value as written. Numbers and strings keep their text, so nothing is rounded or normalized. */
export type JsonNode =
  | { readonly kind: 'object' | 'array'; readonly children: readonly JsonMember[] }
  | { readonly kind: 'string' | 'number' | 'word'; readonly text: string }

export interface JsonMember {
  /** The name as written, quotes and escapes included; `undefined` in an array. */
  readonly name: string | undefined
  readonly value: JsonNode
}

/** Returns a member's name without quotes and escapes. */
export function nameOf(name: string): string {
  return JSON.parse(name) as string
}

/** Returns the path of a member, as code reads it: `data.items[0].sku`. */
export function pathOf(parent: string, name: string | undefined, index: number): string {
  if (name === undefined) return `${parent}[${index}]`
  const plain = nameOf(name)
  if (!/^[A-Za-z_$][\w$]*$/.test(plain)) return `${parent}[${name}]`
  return parent === '' ? plain : `${parent}.${plain}`
}

/** Returns a value as text: a string without its quotes, anything else as it is written, indented. */
export function sourceOf(node: JsonNode): string {
  return node.kind === 'string' ? nameOf(node.text) : indented(node, '')
}

/** Longest indentation: with more, the length would grow by the depth of each line. */
const WIDEST = 32

function indented(node: JsonNode, indent: string): string {
  if (!('children' in node)) return node.text
  const [open, close] = node.kind === 'object' ? ['{', '}'] : ['[', ']']
  if (node.children.length === 0) return open + close
  const inner = indent.length < WIDEST ? `${indent}  ` : indent
  const lines = node.children.map(
    ({ name, value }) => `${inner}${name === undefined ? '' : `${name}: `}${indented(value, inner)}`,
  )
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

const MAX_DEPTH = 200
const TOKEN = /\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[[\]{},:])/y

/** Parses JSON without changing it. Returns `undefined` for other text, or beyond 200 levels of nesting. */
export function parseSource(text: string): JsonNode | undefined {
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  return new SourceReader(text).value(0)
}

/** Reads text that is known to be JSON. */
class SourceReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  value(depth: number): JsonNode | undefined {
    if (depth > MAX_DEPTH) return undefined
    const token = this.#next()
    if (token === '{') return this.#members('}', depth)
    if (token === '[') return this.#members(']', depth)
    if (token.startsWith('"')) return { kind: 'string', text: token }
    return { kind: /^[-\d]/.test(token) ? 'number' : 'word', text: token }
  }

  #members(end: '}' | ']', depth: number): JsonNode | undefined {
    const children: JsonMember[] = []
    while (this.#peek() !== end) {
      const name = end === '}' ? this.#next() : undefined
      if (name !== undefined) this.#next()
      const value = this.value(depth + 1)
      if (value === undefined) return undefined
      children.push({ name, value })
      if (this.#peek() === ',') this.#next()
    }
    this.#next()
    return { kind: end === '}' ? 'object' : 'array', children }
  }

  #peek(): string {
    const before = this.#at
    const token = this.#next()
    this.#at = before
    return token
  }

  #next(): string {
    TOKEN.lastIndex = this.#at
    const token = TOKEN.exec(this.#text)?.[1] ?? ''
    this.#at = TOKEN.lastIndex
    return token
  }
}

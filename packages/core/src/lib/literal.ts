/** Deepest indentation: with more, the length would grow by the depth of each line. */
const DEEPEST = 16

/**
 * Prints a JSON value as a JavaScript expression that evaluates to the same value, whatever its texts and keys contain, in
 * any file that is UTF-8. Members and items stand on lines of their own, indented by two spaces.
 */
export function literal(value: unknown): string {
  const pieces: string[] = []
  write(value, 0, pieces)
  return pieces.join('')
}

/** Adds the pieces of a value: joining those of each level would copy a deep value as often as it has levels. */
function write(value: unknown, depth: number, pieces: string[]): void {
  if (typeof value !== 'object' || value === null) {
    pieces.push(plain(value))
    return
  }
  const isList = Array.isArray(value)
  const parts = isList ? [...value.entries()] : Object.entries(value)
  const [outer, inner] = [depth, depth + 1].map(level => `\n${'  '.repeat(Math.min(level, DEEPEST))}`)
  pieces.push(isList ? '[' : '{')
  for (const [name, one] of parts) {
    pieces.push(inner as string, isList ? '' : `${literalKey(String(name))}: `)
    write(one, depth + 1, pieces)
    pieces.push(',')
  }
  pieces.push(parts.length === 0 ? '' : (outer as string), isList ? ']' : '}')
}

function plain(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  return Object.is(value, -0) ? '-0' : String(value)
}

/** Prints the name of a member of an object, or of a declared type. */
export function literalKey(name: string): string {
  // In an object literal, this name alone would set the prototype.
  if (name === '__proto__') return "['__proto__']"
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)
}

/** What JSON leaves as it is and a source file should not contain: line ends, controls, what turns text around, halves of a character. */
const UNSAFE = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/gu

function quoted(text: string): string {
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  const escaped = inside.replace(UNSAFE, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
  // An end tag would end a script that contains the source.
  return `'${escaped.replaceAll('</', '<\\/')}'`
}

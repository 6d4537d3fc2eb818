/** Matches a string, a punctuation mark, a number or a word. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g

/** A member of the outermost object, with its value's position in the text. */
interface Span {
  readonly name: string
  readonly from: number
  readonly to: number
}

/**
 * Replaces members of a JSON object by other JSON texts. All other text stays unchanged; missing members are added at
 * the end.
 */
export function replaceMembers(text: string, values: Readonly<Record<string, string>>): string {
  const spans = membersOf(text)
  let replaced = ''
  let at = 0
  for (const { name, from, to } of spans.filter(one => Object.hasOwn(values, one.name))) {
    replaced += text.slice(at, from) + values[name]
    at = to
  }
  replaced += text.slice(at)
  const names = new Set(spans.map(span => span.name))
  const missing = Object.entries(values).filter(([name]) => !names.has(name))
  const added = missing.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')
  if (added === '') return replaced
  const end = replaced.lastIndexOf('}')
  return `${replaced.slice(0, end)}${spans.length > 0 ? ',' : ''}${added}${replaced.slice(end)}`
}

/** Returns the text of a member's value; the last one counts if the name occurs twice. */
export function memberOf(text: string, name: string): string | undefined {
  const span = membersOf(text).findLast(one => one.name === name)
  return span && text.slice(span.from, span.to)
}

/** Returns the members in text order. The text must be a JSON object. */
function membersOf(text: string): readonly Span[] {
  const members: Span[] = []
  let depth = 0
  let name: string | undefined
  let from: number | undefined
  let end = 0
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const isEnd = depth === 1 && (token === ',' || token === '}')
    if (isEnd && name !== undefined && from !== undefined) {
      members.push({ name, from, to: end })
      name = from = undefined
    } else if (depth === 1 && name === undefined && token.startsWith('"')) name = JSON.parse(token) as string
    else if (depth === 1 && name !== undefined && token !== ':') from ??= index
    if (token === '{' || token === '[') depth++
    if (token === '}' || token === ']') depth--
    end = index + token.length
  }
  return members
}

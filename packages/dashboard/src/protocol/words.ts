/** A text in words of no surface: each says the name of a field, a verb or a time in its own way. */
export type Words = string | readonly Part[]

/** A piece of a text: itself, or what each surface names in its own way. */
export type Part =
  | string
  | number
  /** The name of an argument, perhaps with its value. */
  | { readonly field: string; readonly value?: string }
  /** A verb with its arguments. */
  | { readonly verb: string; readonly args: Readonly<Record<string, unknown>> }
  /** A time, in milliseconds since the epoch. */
  | { readonly at: number }

/** How a surface says what differs between surfaces. */
export interface Speech {
  field(name: string, value?: string): string
  verb(name: string, args: Readonly<Record<string, unknown>>): string
  time(at: number): string
}

/** Names as programs write them, and times as ISO 8601. */
export const PLAIN: Speech = {
  field: (name, value) => (value === undefined ? name : `${name}: ${value}`),
  verb: (name, args) => {
    const given = Object.entries(args).map(([field, value]) => `${field}: ${String(value)}`)
    return given.length === 0 ? name : `${name} (${given.join(', ')})`
  },
  time: at => new Date(at).toISOString(),
}

/** Says a text in the words of a surface. */
export function say(words: Words, speech: Speech = PLAIN): string {
  if (typeof words === 'string') return words
  return words.map(part => sayPart(part, speech)).join('')
}

function sayPart(part: Part, speech: Speech): string {
  if (typeof part !== 'object') return String(part)
  if ('field' in part) return speech.field(part.field, part.value)
  if ('verb' in part) return speech.verb(part.verb, part.args)
  return speech.time(part.at)
}

/** Joins texts. */
export function joined(list: readonly Words[], between: string): readonly Part[] {
  return list.flatMap((words, i) => [
    ...(i === 0 ? [] : [between]),
    ...(typeof words === 'string' ? [words] : words),
  ])
}

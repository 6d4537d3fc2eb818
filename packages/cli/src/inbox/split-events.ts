import { Buffer } from 'node:buffer'

/** The text of one event. */
export interface EventText {
  /** Line where it begins, the first being 1. */
  readonly line: number
  /** The exact bytes. */
  readonly bytes: Uint8Array
}

/** A file cannot be read further. Everything before is complete. */
export class UnreadableRest extends Error {
  override readonly name: string = 'UnreadableRest'
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** Cuts a text into events. Texts are the bytes of UTF-8, each as a character. */
export interface Splitter {
  /** Line that has been reached. */
  readonly line: number
  feed(text: string): readonly EventText[]
  /** Returns what is left. Throws `UnreadableRest` after it if something does not end. */
  end(): Iterable<EventText>
}

/** Begins a record of RFC 7464. */
export const SEPARATOR = '\x1e'
/** Far more than any body limit. */
const LONGEST_EVENT = 67_108_864

function eventText(line: number, text: string): EventText {
  return { line, bytes: Buffer.from(text, 'latin1') }
}

function requireShort(text: string, line: number): void {
  if (text.length > LONGEST_EVENT)
    throw new UnreadableRest(line, 'it is longer than 64 MiB, which is no event')
}

/** One event a line: a bad one spoils no other. Lines end with LF, CR LF or CR; empty ones are skipped. */
export class LineSplitter implements Splitter {
  line = 1
  #rest = ''
  /** A CR at the end of a text, which an LF may follow. */
  #held = ''

  feed(text: string): readonly EventText[] {
    const whole = this.#held + text
    this.#held = whole.endsWith('\r') ? '\r' : ''
    const parts = whole.slice(0, whole.length - this.#held.length).split(/\r\n|\n|\r/)
    parts[0] = this.#rest + parts[0]
    this.#rest = parts.pop() ?? ''
    requireShort(this.#rest, this.line)
    return parts.flatMap(part => this.#ended(part))
  }

  end(): readonly EventText[] {
    return this.#ended(this.#rest)
  }

  #ended(text: string): readonly EventText[] {
    const line = this.line++
    return text.trim() === '' ? [] : [eventText(line, text)]
  }
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\n' || char === '\r' || char === '\t'
}

/**
 * Values one after another, in any layout: those of arrays are cut out of them, and a record separator (RFC 7464) begins a
 * new one whatever came before.
 */
export class ValueSplitter implements Splitter {
  line = 1
  /** The value that has begun, up to the text at hand. */
  #value = ''
  #begunAt: number | undefined
  /** Line of the array that is open. */
  #array: number | undefined
  #depth = 0
  #inString = false
  #isEscaped = false
  #afterComma = false
  #last = ''
  #found: EventText[] = []

  feed(text: string): readonly EventText[] {
    this.#found = []
    // Index in the text where the value goes on.
    let from = 0
    const take = (end: number) => {
      this.#value += text.slice(from, end)
      from = end
    }
    for (let at = 0; at < text.length; at++) {
      const char = text[at] as string
      if (char === '\r' || (char === '\n' && this.#last !== '\r')) this.line++
      this.#last = char
      if (this.#begunAt === undefined) from = at
      if (char === SEPARATOR) {
        take(at)
        this.#separate()
      } else if (this.#inString) this.#inside(char)
      else if (this.#closes(char)) {
        if (this.#begunAt !== undefined) take(this.#depth > 0 ? at + 1 : at)
        this.#close(char)
      } else if (!isSpace(char)) this.#goOn(char)
    }
    if (this.#begunAt !== undefined) take(text.length)
    requireShort(this.#value, this.#begunAt ?? this.line)
    return this.#found
  }

  *end(): Iterable<EventText> {
    this.#found = []
    const isOpen = this.#depth > 0 || this.#inString
    if (this.#begunAt !== undefined && !isOpen) this.#finish()
    yield* this.#found
    const [line, what] = isOpen ? [this.#begunAt, 'value'] : [this.#array, 'array']
    if (line !== undefined)
      throw new UnreadableRest(
        line,
        `the JSON ${what} that begins there does not end: the file may have been cut`,
      )
  }

  #inside(char: string): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (char === '\\') this.#isEscaped = true
    else if (char === '"') this.#inString = false
  }

  /** Returns whether a character ends the value that has begun, or the array around it. */
  #closes(char: string): boolean {
    if (this.#depth > 0)
      return this.#depth === 1 && this.#array === undefined && (char === '}' || char === ']')
    if (this.#array !== undefined) return char === ',' || char === ']'
    return this.#begunAt !== undefined && isSpace(char)
  }

  #close(char: string): void {
    this.#depth = 0
    const isEmpty = this.#begunAt === undefined
    if (!isEmpty) this.#finish()
    if (this.#array === undefined) return
    if (isEmpty && (char === ',' || this.#afterComma)) this.#found.push(eventText(this.line, ','))
    this.#afterComma = char === ','
    if (char === ']') this.#array = undefined
  }

  #goOn(char: string): void {
    if (char === '[' && this.#array === undefined && this.#begunAt === undefined) {
      this.#array = this.line
      this.#afterComma = false
      return
    }
    this.#begunAt ??= this.line
    if (char === '"') this.#inString = true
    else if (char === '{' || char === '[') this.#depth++
    else if ((char === '}' || char === ']') && this.#depth > 0) this.#depth--
  }

  #separate(): void {
    if (this.#begunAt !== undefined) this.#finish()
    this.#array = undefined
    this.#depth = 0
    this.#inString = false
    this.#isEscaped = false
  }

  #finish(): void {
    this.#found.push(eventText(this.#begunAt ?? this.line, this.#value.replace(/[ \t\r\n]+$/, '')))
    this.#value = ''
    this.#begunAt = undefined
  }
}

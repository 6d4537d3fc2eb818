import type { Words } from './words.ts'

/** What a verb is, besides its arguments and what it does. */
export interface VerbAbout {
  readonly name: string
  readonly summary: string
  /** What a person should know before allowing it, or doing it. */
  readonly effect?: string
  readonly changes: 'nothing' | 'something' | 'for good'
  /** The app's handlers run. */
  readonly runsHandlers?: boolean
  /** Compares the contents of events: only for those who may see bodies. */
  readonly readsBodies?: boolean
  /** Changes dead letters that its arguments choose: pages show its button where letters are listed. */
  readonly isForLetters?: boolean
  readonly words: ActionWords
}

/** How surfaces show a field, in its JSON Schema besides what that describes. */
export interface FieldLook {
  /** Placeholder of its value. */
  readonly sign?: string
  /** Given by its place among the arguments, where a surface has an order. */
  readonly isArgument?: true
  /** What only pages know, such as the keys of events: no person writes it. */
  readonly isForPages?: true
}

/** A JSON Schema of a field, with how surfaces show it. */
export interface FieldSchema extends FieldLook {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'array'
  readonly description?: string
  readonly enum?: readonly string[]
  readonly default?: unknown
}

/** A field of a verb. */
export interface FieldView {
  readonly name: string
  readonly isRequired: boolean
  readonly schema: FieldSchema
}

/** The result of a verb. */
export interface Outcome {
  /** All that was asked for was done, or found. */
  readonly isDone: boolean
  /** For programs: a JSON object. */
  readonly data: object
  /** For people. */
  readonly blocks: readonly Block[]
}

/** Words for a button, for progress and for a result. */
export interface ActionWords {
  readonly label: string
  /** While it goes on: `Redriving`. */
  readonly doing: string
  /** Afterward: `redriven`. */
  readonly done: string
  /** What it changes, one by one: `letter`. */
  readonly thing?: string
}

/** A part of a result, for people. */
export type Block =
  /** A sentence of the result. */
  | { readonly kind: 'line'; readonly words: Words; readonly tone?: Tone }
  /** Advice beside the result. */
  | { readonly kind: 'note'; readonly words: Words }
  | { readonly kind: 'list'; readonly items: readonly Words[] }
  | { readonly kind: 'facts'; readonly facts: readonly Fact[] }
  | {
      readonly kind: 'table'
      readonly columns: readonly Column[]
      readonly rows: readonly (readonly Words[])[]
    }
  /** The body of an event, which may be JSON. */
  | { readonly kind: 'body'; readonly text: string }

/** How a surface shows a fact: as something good or bad, that is waited for, or that is over. */
export type Tone = 'good' | 'bad' | 'wait' | 'idle'

/** One line of an outcome: a label, and what it is. */
export interface Fact {
  readonly label: string
  readonly words: Words
  readonly tone?: Tone
  /** May be cut to fit a line. */
  readonly isLong?: true
}

/** A column of a table in an outcome. */
export interface Column {
  readonly title: string
  /** Characters that are worth their room. Absent: as many as it has. */
  readonly most?: number
  /** As long as it is, such as the text of an error. */
  readonly isLong?: true
}

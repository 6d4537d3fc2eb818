import type { Choices } from './choices.ts'

/** Writes code in the chosen language. */
export class Code {
  readonly #isTyped: boolean
  /** Extension of the sources, without a dot. */
  readonly extension: 'ts' | 'js'

  constructor({ language }: Choices) {
    this.#isTyped = language === 'typescript'
    this.extension = this.#isTyped ? 'ts' : 'js'
  }

  /** Returns the type annotation, or an empty string in JavaScript. */
  typed(annotation: string): string {
    return this.#isTyped ? annotation : ''
  }

  /** Joins the given import statements in formatter order, and skips empty ones. */
  imports(...statements: readonly (string | undefined)[]): string {
    const given = statements.filter(one => one !== undefined && one !== '') as string[]
    return given.toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1)).join('\n')
  }
}

/** Sorts Node's own modules first, then packages, then files. */
function rankOf(statement: string): string {
  const from = statement.replace(/.* from '/, '')
  return `${from.startsWith('node:') ? 0 : from.startsWith('.') ? 2 : 1}${from}`
}

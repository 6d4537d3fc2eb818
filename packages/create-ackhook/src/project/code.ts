import type { Choices } from './choices.ts'

/** Writes code in the language that was chosen. */
export class Code {
  readonly #isTyped: boolean
  /** Extension of the sources, without a dot. */
  readonly extension: 'ts' | 'js'

  constructor({ language }: Choices) {
    this.#isTyped = language === 'typescript'
    this.extension = this.#isTyped ? 'ts' : 'js'
  }

  /** A type annotation, or nothing in JavaScript. */
  typed(annotation: string): string {
    return this.#isTyped ? annotation : ''
  }

  /** Those import statements that are given, in the order in which formatters put them. */
  imports(...statements: readonly (string | undefined)[]): string {
    const given = statements.filter(one => one !== undefined && one !== '') as string[]
    return given.toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1)).join('\n')
  }
}

/** Node's own modules, then packages, then files. */
function rankOf(statement: string): string {
  const from = statement.replace(/.* from '/, '')
  return `${from.startsWith('node:') ? 0 : from.startsWith('.') ? 2 : 1}${from}`
}

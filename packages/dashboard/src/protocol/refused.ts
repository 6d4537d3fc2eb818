import { say, type Words } from './words.ts'

/** Why an operation is refused: the caller can mend it. */
export type RefusalCode = 'invalid' | 'unsupported' | 'not_found' | 'busy'

/** A refusal in words of no surface. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly code: RefusalCode
  readonly words: Words

  constructor(code: RefusalCode, words: Words, options?: ErrorOptions) {
    super(say(words), options)
    this.code = code
    this.words = words
  }
}

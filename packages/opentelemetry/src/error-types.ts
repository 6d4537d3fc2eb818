import { AckhookError } from '@ackhook/core'
import { isError } from '@ackhook/core/spi'
import { BoundedNames, OTHER } from './bounded-names.ts'

const LIMIT = 50
/** A class or a code, not a sentence: a library may put a message, which may contain data, into `name`. */
const NAME = /^[\p{L}_$][\p{L}\p{N}_$.:#-]{0,99}$/u

/** Names errors by our code or by their class, never by their message, which may contain event data. */
export class ErrorTypes {
  // Separate sets, so that an application's errors never displace our codes.
  readonly #codes = new BoundedNames(LIMIT)
  readonly #classes = new BoundedNames(LIMIT)

  of(error: unknown): string {
    const isOurs = error instanceof AckhookError
    const name = isOurs ? error.code : isError(error) ? error.name : ''
    if (typeof name !== 'string' || !NAME.test(name)) return OTHER
    return (isOurs ? this.#codes : this.#classes).of(name)
  }
}

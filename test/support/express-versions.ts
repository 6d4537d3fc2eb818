import express5 from 'express'
// @ts-expect-error: the alias has no types. What the tests use of Express is the same in both versions.
import express4 from 'express4'

/** Both versions of Express that are supported. */
export const EXPRESS_VERSIONS: readonly (readonly [name: string, express: typeof express5])[] = [
  ['Express 4', express4 as typeof express5],
  ['Express 5', express5],
]

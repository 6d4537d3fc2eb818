import express5 from 'express'
import express4 from 'express4'

/** Both supported Express versions. The features that tests use are the same in both. */
export const EXPRESS_VERSIONS: readonly (readonly [name: string, express: typeof express5])[] = [
  ['Express 4', express4 as unknown as typeof express5],
  ['Express 5', express5],
]

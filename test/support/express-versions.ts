import express5 from 'express'

// Typed as Express 5: what the tests use of it is the same in both.
const { default: express4 } = (await import('express4' as string)) as { default: typeof express5 }

/** Both versions of Express that are supported. */
export const EXPRESS_VERSIONS: readonly (readonly [name: string, express: typeof express5])[] = [
  ['Express 4', express4],
  ['Express 5', express5],
]

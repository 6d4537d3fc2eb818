import { expect, it } from 'vitest'
import { createTokens } from './tokens.ts'

it('never repeats a token, even across several sources', () => {
  const [one, other] = [createTokens(), createTokens()]
  expect(new Set([one(), one(), other(), other()]).size).toBe(4)
})

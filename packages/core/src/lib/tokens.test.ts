import { expect, it } from 'vitest'
import { createTokens } from './tokens.ts'

it('gives no token twice, from several sources either', () => {
  const [one, other] = [createTokens(), createTokens()]
  expect(new Set([one(), one(), other(), other()]).size).toBe(4)
})

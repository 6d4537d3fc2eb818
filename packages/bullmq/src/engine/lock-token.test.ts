import { expect, test } from 'vitest'
import { LockTokens, OWNER_LENGTH } from './lock-token.ts'

test('all tokens of a process differ, and begin with what no other process has', () => {
  const [ours, theirs] = [new LockTokens(), new LockTokens()]
  const tokens = Array.from({ length: 100 }, () => ours.next())
  const owners = new Set(tokens.map(token => token.slice(0, OWNER_LENGTH)))
  expect(new Set(tokens).size).toBe(100)
  expect(owners.size).toBe(1)
  expect(owners.has(theirs.next().slice(0, OWNER_LENGTH))).toBe(false)
})

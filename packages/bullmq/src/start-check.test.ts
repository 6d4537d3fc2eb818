import { expect, it } from 'vitest'
import { startError } from './start-check.ts'

it('a time limit on connecting, which an old pg reaches with every server, leads to the version of pg', () => {
  const error = startError(new Error('Connection terminated due to connection timeout'))
  expect(error.message).toContain('update `pg`')
})

import { expect, it } from 'vitest'
import { startError } from './start-check.ts'

it('a connection timeout, which an old pg reports for every server, suggests an update of pg', () => {
  const error = startError(new Error('Connection terminated due to connection timeout'))
  expect(error.message).toContain('update `pg`')
})

import { AckhookError } from '@ackhook/core'
import { expect, it, test, vi } from 'vitest'
import { startError, startWhenReady } from './reaching.ts'

it('a connection timeout, which an old pg reports for every server, suggests an update of pg', () => {
  const error = startError(new Error('Connection terminated due to connection timeout'))
  expect(error.message).toContain('update `pg`')
})

const failed = (properties: object) =>
  new AckhookError('inbox_unavailable', 'no', { cause: Object.assign(new Error('cause'), properties) })

test.each([
  ['nothing at its address', { code: 'ECONNREFUSED' }],
  ['no address for its name', { code: 'ENOTFOUND' }],
  ['a database that starts', { code: '57P03' }],
  ['a connection that ends', { message: 'Connection terminated unexpectedly' }],
])('a start finds %s, and succeeds once the server is ready', async (_, properties) => {
  let starts = 0
  const start = async () => {
    starts++
    if (starts < 3) throw failed(properties)
  }
  await startWhenReady(5000, start)
  expect(starts).toBe(3)
})

test.each([
  { code: '28P01' },
  { code: '3D000' },
  { message: 'SELECT was refused' },
  { name: 'DeadlineError' },
])('a start that fails with %j is not repeated', async properties => {
  const start = vi.fn(async () => Promise.reject(failed(properties)))
  await expect(startWhenReady(5000, start)).rejects.toMatchObject({ cause: properties })
  expect(start).toHaveBeenCalledTimes(1)
})

test('a start that gives up names the last reason, not the end of its time', async () => {
  const reason = failed({ code: 'ECONNREFUSED' })
  let starts = 0
  const start = async (leftMs: number) => {
    if (++starts === 1) throw reason
    await new Promise(resolve => setTimeout(resolve, leftMs))
    throw failed({ name: 'DeadlineError' })
  }
  await expect(startWhenReady(300, start)).rejects.toBe(reason)
  expect(starts).toBe(2)
})

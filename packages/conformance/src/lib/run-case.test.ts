import { expect, test } from 'vitest'
import { runCase } from './run-case.ts'

const timeLimitMs = 50

test('a case that passes has no failure', async () => {
  expect(await runCase({ timeLimitMs, run: async () => {} })).toBeUndefined()
})

test('a case that rejects fails with its error, even if that is not an Error', async () => {
  const error = new TypeError('no use')
  expect(await runCase({ timeLimitMs, run: () => Promise.reject(error) })).toBe(error)
  expect(await runCase({ timeLimitMs, run: () => Promise.reject('text') })).toMatchObject({
    message: 'text was thrown, which is not an Error',
  })
})

test("a case that hangs fails at its own limit, or at the caller's", async () => {
  const run = () => new Promise<void>(() => {})
  expect(await runCase({ timeLimitMs, run })).toMatchObject({ message: 'did not end within 50 ms' })
  expect(await runCase({ timeLimitMs: 60_000, run }, 10)).toMatchObject({
    message: 'did not end within 10 ms',
  })
})

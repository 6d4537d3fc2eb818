import { expect, it } from 'vitest'
import { recordingLogger } from '../../../../test/support/receiving.ts'
import type { Delivery } from './delivery.ts'
import { keepAlive } from './keep-alive.ts'

it('a platform that refuses waitUntil at each of a thousand requests is logged once for each receiver', () => {
  const [logger, other] = [recordingLogger(), recordingLogger()]
  const err = new Error('the request is over')
  const waitUntil = (): void => {
    throw err
  }
  for (let i = 0; i < 1000; i++)
    keepAlive({ waitUntil } as Partial<Delivery> as Delivery, Promise.resolve(), logger)
  keepAlive({ waitUntil } as Partial<Delivery> as Delivery, Promise.resolve(), other)
  const line = { level: 'warn', fields: { err } }
  expect([logger.lines, other.lines]).toMatchObject([[line], [line]])
})

import { expect, it } from 'vitest'
import { isLocked, isMissingTable, isTransient } from './transient.ts'

const wrapped = (code: unknown) => Object.assign(new Error('Failed query'), { cause: { code } })

it('knows what the database asks to repeat, and what it does not', () => {
  for (const code of ['40001', '40P01', 'ER_LOCK_DEADLOCK', 'P2034', 'SQLITE_BUSY'])
    expect([code, isTransient(wrapped(code))]).toEqual([code, true])
  expect(isTransient({ errcode: 261 })).toBe(true)
  expect(isTransient({ errcode: 19 })).toBe(false)
  expect(isTransient({ code: '23505' })).toBe(false)
  expect(isLocked({ errno: 1205 })).toBe(true)
  expect(isMissingTable({ code: '42P01' })).toBe(true)
  expect(isMissingTable(new Error('no such table: ackhook_marks'))).toBe(true)
  expect(isMissingTable(undefined)).toBe(false)
})

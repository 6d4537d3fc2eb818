import { expect, it } from 'vitest'
import { recordingLogger } from '../../../../test/support/receiving.ts'
import { guardLogger } from './guards.ts'
import { reduceError } from './reduce-error.ts'

const PASSWORD = 'hunter2'
const client = { password: PASSWORD }

it('keeps name, message, code, stack and cause, and nothing that a library added', () => {
  const cause = Object.assign(new RangeError('too far'), { client })
  const error = Object.assign(new TypeError('no', { cause }), { client, code: 'ECONNREFUSED', errno: -111 })
  const reduced = reduceError(error) as Error
  expect(reduced).toMatchObject({
    name: 'TypeError',
    message: 'no',
    code: 'ECONNREFUSED',
    stack: error.stack,
  })
  expect(reduced.cause).toMatchObject({ name: 'RangeError', message: 'too far', stack: cause.stack })
  expect(Object.keys(reduced)).toEqual(['code'])
  expect(Object.keys(reduced.cause as Error)).toEqual([])
})

it('converts an object that is not an error to text, also as a cause', () => {
  expect(reduceError(client)).toBe('[object Object]')
  expect((reduceError(new Error('no', { cause: client })) as Error).cause).toBe('[object Object]')
  expect([reduceError('text'), reduceError(7), reduceError(undefined)]).toEqual(['text', 7, undefined])
})

it('keeps the errors of an AggregateError', () => {
  const reduced = reduceError(new AggregateError([Object.assign(new Error('one'), { client })], 'all'))
  expect(reduced).toMatchObject({ message: 'all', errors: [{ message: 'one' }] })
})

it('ends despite circular causes, and survives an unreadable error', () => {
  const circle = new Error('round')
  circle.cause = circle
  expect(reduceError(circle)).toMatchObject({ message: 'round' })
  const hostile = Object.defineProperty(new Error('no'), 'message', {
    get() {
      throw new Error('unreadable')
    },
  })
  expect(reduceError(hostile)).toBe('an unreadable error')
})

it('is applied before logging, with texts that cannot leave their line', () => {
  const logger = recordingLogger()
  const guarded = guardLogger(logger)
  guarded.warn({ err: Object.assign(new Error('no'), { client }), event: 'evt\u009b2J' }, 'evt\u202e\u2028x')
  expect(JSON.stringify(logger.lines)).not.toContain(PASSWORD)
  expect(logger.lines).toMatchObject([
    { fields: { err: { message: 'no' }, event: 'evt\\u009b2J' }, message: 'evt\\u202e\\u2028x' },
  ])
  const [line] = logger.lines as unknown as [{ fields: { err: Error } }]
  expect(Object.keys(line.fields.err)).toEqual([])
})

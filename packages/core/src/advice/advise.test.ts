import { expect, test } from 'vitest'
import { adviceOn, withAdvice } from './advise.ts'
import { ROWS } from './rows.ts'

const withCode = (code: string, message = 'text') => Object.assign(new Error(message), { code })
const reply = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' })

test.each([
  ['an error without a row', withCode('EUNKNOWN')],
  ["another server's code", withCode('28P01')],
  ['the words of a reply in an error that is none', new Error('NOAUTH Authentication required.')],
  ['the words of an error in a reply', reply('ERR no key ECONNREFUSED')],
  ['a reply without a row', reply('ERR unknown command')],
  ['no error', 'ECONNREFUSED'],
  ['nothing', undefined],
])('gives no advice on %s', (_, error) => {
  expect(adviceOn(error, 'redis')).toBeUndefined()
  expect(withAdvice('It failed', error, 'redis')).toMatch(/^It failed \(.+\)\.$/)
})

test("a file's error is no network error", () => {
  expect(adviceOn(withCode('EACCES'), 'sqlite')).toBeUndefined()
  expect(adviceOn(withCode('SQLITE_BUSY_SNAPSHOT'), 'sqlite')?.fix).toMatch(/process/)
})

test.each([
  ['a cause', new Error('failed', { cause: withCode('ECONNREFUSED') })],
  ['an attempt to reach one of several addresses', new AggregateError([withCode('ECONNREFUSED')])],
  ["a cluster's node", Object.assign(new Error('none'), { lastNodeError: withCode('ECONNREFUSED') })],
])('finds the row of %s', (_, error) => {
  expect(adviceOn(error, 'redis')?.fix).toMatch(/check that it runs/)
})

test('finds the code inside the reply to a script', () => {
  const error = reply(
    "ERR Error running script: @user_script:8: -READONLY You can't write against a replica.",
  )
  expect(adviceOn(error, 'redis')?.cause).toBe('this server is a replica')
})

test('an error that is its own cause ends', () => {
  const error = new Error('round')
  error.cause = error
  expect(adviceOn(error, 'redis')).toBeUndefined()
})

test('names the reason, the cause and the fix', () => {
  expect(
    withAdvice('The server cannot be used', withCode('ENOTFOUND', 'getaddrinfo ENOTFOUND x'), 'redis'),
  ).toBe(
    'The server cannot be used (getaddrinfo ENOTFOUND x): there is no host of that name; check its host name.',
  )
})

test('no two rows of a source claim one code', () => {
  const codes = ROWS.flatMap(({ source, codes }) => (codes ?? []).map(code => `${source} ${code}`))
  expect(new Set(codes).size).toBe(codes.length)
})

import { expect, test } from 'vitest'
import { isConnectionError } from './is-connection-error.ts'

const reply = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' })

test.each([
  "NOPERM this user has no permissions to run the 'info' command",
  'WRONGTYPE Operation against a key holding the wrong kind of value script: 5f, on @user_script:5.',
  "OOM command not allowed when used memory > 'maxmemory'.",
  'MISCONF Redis is configured to save RDB snapshots, but it is unable to persist to disk.',
  'ERR Error running script (call to f_5f): @user_script:6: -OOM command not allowed',
  'NOAUTH Authentication required.',
])('the reply %s is no outage', message => {
  expect(isConnectionError(reply(message))).toBe(false)
})

test.each([
  "READONLY You can't write against a read only replica.",
  "ERR Error running script (call to f_5f): @user_script:6: -READONLY You can't write against a read only replica.",
  'LOADING Redis is loading the dataset in memory',
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  'CLUSTERDOWN The cluster is down',
  'TRYAGAIN Multiple keys request during rehashing of slot',
  'BUSY Redis is busy running a script.',
])('the reply %s is an outage', message => {
  expect(isConnectionError(reply(message))).toBe(true)
})

test('a failure of the client or a timeout is an outage', () => {
  expect(isConnectionError(new Error('Connection is closed.'))).toBe(true)
  expect(isConnectionError('no error')).toBe(true)
  expect(isConnectionError(undefined)).toBe(true)
})

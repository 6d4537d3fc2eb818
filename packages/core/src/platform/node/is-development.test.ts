import { expect, it } from 'vitest'
import { isDevelopment, isTest, isWatcher } from './is-development.ts'

it('needs a sign of development, and concludes nothing from what is unset', () => {
  // A terminal is a sign itself.
  for (const env of [{}, { NODE_ENV: '' }, { NODE_ENV: 'test' }, { NODE_ENV: 'staging' }])
    expect([env, isDevelopment(env) && !process.stdin.isTTY]).toEqual([env, false])
  for (const env of [{ NODE_ENV: 'development' }, { WATCH_REPORT_DEPENDENCIES: '1' }])
    expect([env, isDevelopment(env)]).toEqual([env, true])
  expect(isDevelopment({ NODE_ENV: 'production', WATCH_REPORT_DEPENDENCIES: '1' })).toBe(false)
})

it('recognizes a watcher by its command line, and not by a word in it', () => {
  for (const line of [
    'node /app/node_modules/.bin/tsx watch server.ts',
    'node /app/node_modules/tsx/dist/cli.mjs watch --clear-screen=false server.ts',
    'node /app/node_modules/.bin/nodemon --signal SIGTERM server.js',
    'node /app/node_modules/nodemon/bin/nodemon.js server.js',
    'node /usr/bin/node-dev server.js',
  ])
    expect([line, isWatcher(line.split(' '))]).toEqual([line, true])
  for (const line of [
    'node /app/node_modules/.bin/tsx server.ts watch',
    'node /app/nodemon/server.js',
    'node /app/tsx/server.js watch',
    '/sbin/init',
    '',
  ])
    expect([line, isWatcher(line.split(' '))]).toEqual([line, false])
})

it('recognizes test runners by their variables', () => {
  for (const env of [{ NODE_ENV: 'test' }, { NODE_TEST_CONTEXT: 'child-v8' }])
    expect([env, isTest(env)]).toEqual([env, true])
  for (const env of [
    {},
    { NODE_ENV: 'production', NODE_TEST_CONTEXT: 'child-v8' },
    { NODE_ENV: 'development' },
  ])
    expect([env, isTest(env)]).toEqual([env, false])
})

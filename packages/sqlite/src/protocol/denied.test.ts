import { expect, test } from 'vitest'
import { deniedFault } from './denied.ts'

test.each([
  [
    { code: 'ERR_ACCESS_DENIED', permission: 'WorkerThreads', resource: '' },
    /its thread: add --allow-worker to/,
  ],
  [
    { code: 'ERR_ACCESS_DENIED', permission: 'FileSystemRead', resource: '/app/thread.js' },
    /denies it \/app\/thread\.js: add --allow-fs-read=\/app\/thread\.js to/,
  ],
  [
    { code: 'ERR_ACCESS_DENIED', permission: 'FileSystemWrite', resource: '/data/a.db' },
    /add --allow-fs-write=\/data\/a\.db to/,
  ],
  [
    { code: 'ERR_ACCESS_DENIED' },
    /add --allow-worker, --allow-addons, --allow-fs-read and --allow-fs-write to/,
  ],
  [{ code: 'ERR_DLOPEN_DISABLED' }, /add --allow-addons to node's flags \(with --no-addons, remove that\)/],
])('names the flag that Node needs for %j', (error, message) => {
  const fault = deniedFault(Object.assign(new Error('restricted'), error))
  expect(fault).toEqual({ kind: 'configuration', message: expect.stringMatching(message) })
})

test('leaves every other error alone', () => {
  for (const error of [
    new Error('x'),
    Object.assign(new Error('x'), { code: 'EACCES' }),
    undefined,
    null,
    'x',
  ])
    expect(deniedFault(error)).toBeUndefined()
})

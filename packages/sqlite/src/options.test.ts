import { expect, it } from 'vitest'
import { resolveSqliteOptions } from './options.ts'

const database = { exec() {}, prepare() {}, close() {} }

it.each([
  ['path', undefined],
  ['path', null],
  ['path', 7],
  ['path', ''],
  ['path', {}],
  ['path', { path: undefined }],
  ['path', { path: null }],
  ['path', { path: undefined, database: undefined }],
  ['database', { database: null }],
  ['database', { path: 'a.db', database }],
  ['lease', { path: 'a.db', lease: null }],
  ['poll', { path: 'a.db', poll: null }],
  ['create', { path: 'a.db', create: null }],
])('refuses a wrong option by its name, %s: %j', (option, options) => {
  expect(() => resolveSqliteOptions(options as never)).toThrow(expect.objectContaining({ option }))
})

it('treats an undefined option as left out', () => {
  const left = { lease: undefined, poll: undefined, create: undefined }
  expect(resolveSqliteOptions({ path: undefined, database: database as never, ...left })).toMatchObject({
    source: { database },
    leaseMs: 60_000,
    pollMs: 500,
    create: true,
  })
})

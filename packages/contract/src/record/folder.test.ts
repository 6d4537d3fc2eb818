import { mkdirSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type FolderOptions, readRecordings, toFolder } from '../node.ts'
import type { Recording } from './recording.ts'

const folder = () => join(mkdtempSync(join(tmpdir(), 'ackhook-recorded-')), 'recorded')
const recording = (event: object): Recording => ({
  format: 'ackhook-recording-1',
  receivedAt: '2026-01-01T00:00:00.000Z',
  kept: [],
  event,
})

it('writes recordings that only this user can read, and reads them in the order of their names', async () => {
  const path = folder()
  const write = toFolder(path)
  await write('b_1.json', JSON.stringify(recording({ id: 'evt_2' })))
  await write('a_1.json', JSON.stringify(recording({ id: 'evt_1' })))
  await write('a_1.json', JSON.stringify(recording({ id: 'evt_3' })))
  expect(readdirSync(path).sort()).toEqual(['a_1.json', 'b_1.json'])
  expect(statSync(join(path, 'a_1.json')).mode & 0o777).toBe(0o600)
  expect(readRecordings(path)).toEqual([recording({ id: 'evt_3' }), recording({ id: 'evt_2' })])
})

it('fills a folder up to maxBytes, with what earlier processes wrote', async () => {
  const path = folder()
  await toFolder(path)('a.json', 'x'.repeat(600))
  const write = toFolder(path, { maxBytes: 1000 })
  await write('b.json', 'x'.repeat(300))
  await expect(write('c.json', 'x'.repeat(300))).rejects.toThrow(/holds 1000 bytes already/)
  expect(readdirSync(path)).toEqual(['a.json', 'b.json'])
})

it('tries to create the folder again after it failed', async () => {
  const path = folder()
  writeFileSync(path, '')
  const write = toFolder(join(path, 'inside'))
  await expect(write('a.json', '{}')).rejects.toThrow(/ENOTDIR|EEXIST/)
  await expect(write('a.json', '{}')).rejects.toThrow(/ENOTDIR|EEXIST/)
})

it('reads what `ackhook listen --save` has saved as a recording', () => {
  const path = folder()
  mkdirSync(path)
  const saved = {
    format: 'ackhook-delivery-1',
    receivedAt: '2026-01-01T00:00:00.000Z',
    method: 'POST',
    url: '/',
    headers: [['X-Other-Signature', `t=1767225600000,v2=${'a'.repeat(64)}`]],
    body: Buffer.from('{"id":"evt_1"}').toString('base64'),
  }
  writeFileSync(join(path, 'one.json'), `\uFEFF${JSON.stringify(saved)}`)
  expect(readRecordings(join(path, 'one.json'))).toEqual([
    {
      ...recording({ id: 'evt_1' }),
      kept: 'all',
      signature: { header: 'x-other-signature', scheme: 'v2', timestampUnit: 'milliseconds' },
    },
  ])
})

it.each([
  ['nothing', undefined, /there is no file or folder/],
  ['no recording', '{"a":1}', /one\.json is no recorded delivery: it has neither the format/],
  ['no JSON', '{', /one\.json is no recorded delivery/],
])('names the file if there is %s', (_, text, message) => {
  const path = folder()
  if (text !== undefined) {
    mkdirSync(path)
    writeFileSync(join(path, 'one.json'), text)
  }
  expect(() => readRecordings(path)).toThrow(message)
})

it.each([
  ['path', '', {}],
  ['maxBytes', 'x', { maxBytes: 0 }],
  ['max', 'x', { max: 1 }],
])('a wrong option %s is refused', (option, path, options) => {
  expect(() => toFolder(path, options as FolderOptions)).toThrow(expect.objectContaining({ option }))
})

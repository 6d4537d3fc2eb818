import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createReceiver } from '@ackhook/core'
import { testReceiver } from '@ackhook/testing'
import { expect, onTestFinished, test } from 'vitest'
import { curlOf } from '../src/lib/curl-of.ts'
import { testOf } from '../src/lib/test-of.ts'
import { answering, SECRET, start } from './set-up.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const VITEST = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url))
/** Text with what ends a string or a line. */
const NOTE = 'it\'s\n\u2028"x"'
const RECEIVER = `import { createReceiver } from '@ackhook/core'
export function createHooks(secret) {
  const hooks = createReceiver({ secret, retry: { attempts: 1 }, logger: { info() {}, warn() {}, error() {} } })
  hooks.on('*', event => {
    if (event.type === 'call.broken') throw new Error('the CRM is down')
    if (event.data.note !== ${JSON.stringify(NOTE)}) throw new Error('not the note: ' + event.data.note)
  })
  return hooks
}
`

/** Runs generated files with Vitest, beside a receiver. */
async function outputOf(files: Readonly<Record<string, string>>): Promise<string> {
  // The folder is inside the repository, so that packages resolve as for users.
  const folder = await mkdtemp(join(HERE, '.generated-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  await writeFile(join(folder, 'vitest.config.js'), 'export default {}')
  await writeFile(join(folder, 'webhooks.js'), RECEIVER)
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const args = [VITEST, 'run', '--root', folder, '--reporter', 'verbose']
  const env = { PATH: process.env['PATH'], NO_COLOR: '1' }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: folder, env }).catch(
    (failed: { readonly stdout: string; readonly stderr: string }) => failed,
  )
  return stdout + stderr
}

test('a delivery becomes a test that passes, or fails with the error of the handler', async () => {
  const { emulator } = await start({ to: (await answering()).url })
  const files: Record<string, string> = {}
  for (const type of ["call.it's", 'call.broken']) {
    const { id } = await emulator.api.send(type, { data: { note: NOTE } })
    await emulator.wait()
    const [delivery] = (await emulator.api.deliveries.list({ event: id })).deliveries
    files[`${type.slice(5, 7)}.test.js`] = testOf(await emulator.api.deliveries.get(delivery?.id ?? '')) ?? ''
  }
  expect(Object.values(files).join()).not.toContain(SECRET)
  const output = await outputOf(files)
  expect(output).toMatch(/✓ it\.test\.js > call\.it's evt_\w+ is handled/)
  expect(output).toMatch(/× br\.test\.js > call\.broken evt_\w+ is handled/)
  expect(output).toContain('the CRM is down')
})

test('a test tells the signature that is not the default one, and keeps __proto__', () => {
  const text = enveloped('{"__proto__":{"n":1}}')
  const log = [{ requestHeaders: { 'X-Sig': `t=1,v2=${'a'.repeat(64)}` } }]
  const file = testOf({ event: 'evt_1', type: 'a.b', body: { text, base64: null }, log })
  expect(file).toContain("deliverEvent(event, { header: 'X-Sig', scheme: 'v2' })")
  expect(file).toContain("['__proto__']: {\n")
})

const enveloped = (data: string) =>
  `{"id":"evt_1","type":"a.b","created_at":"2026-03-01T12:00:00Z","data":${data}}`

test('a test delivers what an object cannot express as the exact text, and says so', async () => {
  const exact = [
    '{"n":12345678901234567890}',
    '{"n":1.0}',
    '{"n":1e3}',
    '{"n":-0}',
    '{"n":1,"n":2}',
    '{"2":0,"1":0}',
    '{"deep":[{"n":0.10}],"text":"it\'s \\\\ \\" \\n \u2028 `x`"}',
  ].map(enveloped)
  const files = exact.map(
    text => testOf({ event: 'evt_1', type: 'a.b', body: { text, base64: null }, log: [] }) ?? '',
  )
  for (const file of files) expect(file).toContain('// The exact text: an object cannot express its numbers')
  // Evaluates each file with a receiver that keeps what arrives.
  const delivered = await Promise.all(files.map(deliveredBy))
  expect(delivered).toEqual(exact)
})

test('a test has a literal where that says the same', async () => {
  for (const data of [
    '{"n":1,"t":"\\u00e9\\/"}',
    '{ "a" : [ 1.5, -2, true, null ] }',
    '{}',
    '{"n":9007199254740991}',
    '{"\\u005f_proto__":{"n":1}}',
    '{"n":"\u2028 \u202e </script> \\u0000"}',
  ]) {
    const file =
      testOf({ event: 'evt_1', type: 'a.b', body: { text: enveloped(data), base64: null }, log: [] }) ?? ''
    expect(file).toContain('const event = {\n')
    expect(JSON.parse(await deliveredBy(file))).toEqual(JSON.parse(enveloped(data)))
  }
})

test.each([
  ['deep and wide', `${'{"a":'.repeat(900)}[${'0,'.repeat(50_000)}0]${'}'.repeat(900)}`],
  ['of empty lines', `{${'\n'.repeat(200_000)}}`],
  ['too deep to be written', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ['of keys', `{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":0`).join()}}`],
])('a test and a command for a body that is %s are as long as the body', (_, data) => {
  const body = { text: enveloped(data), base64: null }
  const headers = { 'X-Service-Signature': `t=1,v1=${'a'.repeat(64)}` }
  const file = testOf({ event: 'evt_1', type: 'a.b', body, log: [] }) ?? ''
  expect(file.length).toBeLessThan(20 * body.text.length + 1000)
  expect(curlOf({ url: 'http://localhost', headers, body }).length).toBeLessThan(2 * body.text.length + 1000)
})

/** Returns the body that a generated file delivers. */
async function deliveredBy(file: string): Promise<string> {
  const bodies: string[] = []
  const receiver = (secret: string) => {
    const hooks = createReceiver({ secret, logger: { info() {}, warn() {}, error() {} } })
    hooks.on('*', () => {})
    const { handle } = hooks
    const keeping = (request: Parameters<typeof handle>[0]) => {
      bodies.push(new TextDecoder().decode(request.body as Uint8Array))
      return handle.call(hooks, request)
    }
    return Object.assign(hooks, { handle: keeping })
  }
  const code = file.replace(/^import .*$/gm, '')
  const running: Promise<unknown>[] = []
  const run = new Function('testReceiver', 'expect', 'test', 'createHooks', code)
  run(testReceiver, expect, (_name: string, body: () => Promise<unknown>) => running.push(body()), receiver)
  await Promise.all(running)
  return bodies[0] ?? ''
}

test.each(['nothing', '[]', 'null'])('%s is not an event to test with', text => {
  expect(testOf({ event: 'e', type: 't', body: { text, base64: null }, log: [] })).toBeUndefined()
})

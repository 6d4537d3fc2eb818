import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
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

test('a test tells the signature that is not the default one, and keeps a name that a literal cannot have', () => {
  const text = '{"id":"evt_1","type":"a.b","data":{"__proto__":{"n":1}}}'
  const log = [{ requestHeaders: { 'X-Sig': `t=1,v2=${'a'.repeat(64)}` } }]
  const file = testOf({ event: 'evt_1', type: 'a.b', body: { text, base64: null }, log })
  expect(file).toContain("deliverEvent(event, { header: 'X-Sig', scheme: 'v2' })")
  expect(file).toContain(`const event = JSON.parse('${text}')`)
})

test.each(['nothing', '[]', 'null'])('%s is not an event to test with', text => {
  expect(testOf({ event: 'e', type: 't', body: { text, base64: null }, log: [] })).toBeUndefined()
})

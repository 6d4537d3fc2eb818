import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const HERE = fileURLToPath(new URL('.', import.meta.url))

/** Fakes the timers as a test runner's setup file does, before the first import of a package. */
const FAKED = `
const never = () => ({ unref() {}, ref() {}, refresh() {} })
for (const name of ['setTimeout', 'setInterval', 'setImmediate']) globalThis[name] = never
for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) globalThis[name] = () => {}
globalThis.queueMicrotask = () => {}
const { createReceiver } = await import('@ackhook/core')
const { createEvent, testReceiver } = await import('@ackhook/testing')
const secret = 'a-secret-of-at-least-16-bytes'
const receiver = createReceiver({ secret, logger: { info() {}, warn() {}, error() {} } })
`

async function runFaked(script: string): Promise<string> {
  const args = ['--input-type=module', '--eval', FAKED + script]
  return (await run(process.execPath, args, { cwd: HERE, timeout: 30_000 })).stdout.trim()
}

test('a delivery is handled, and its duplicate recognized, with timers faked before the import', async () => {
  const script = `
    receiver.on('*', async () => {})
    const hooks = testReceiver(receiver, { secret })
    const event = createEvent('conversation.resolved')
    console.log((await hooks.deliverEvent(event)).outcome, (await hooks.deliverEvent(event)).outcome)
    process.exit()`
  expect(await runFaked(script)).toBe('handled duplicate')
})

test('a retry that waits for a faked timer rejects with advice', async () => {
  const script = `
    receiver.on('*', () => { throw new Error('the CRM is away') })
    const hooks = testReceiver(receiver, { secret, timeout: '200ms' })
    console.log(await hooks.deliver('conversation.resolved').catch(String))
    process.exit()`
  expect(await runFaked(script)).toMatch(/the CRM is away.*If this test fakes its timers, advance them/)
})

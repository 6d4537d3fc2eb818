import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROOT } from '../../../test/support/workspace-packages.ts'

// Plain Node runs the built files and a copy of them.
const built = new URL('../dist/', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'ackhook-copy-'))
beforeAll(() => {
  for (const name of ['package.json', 'dist']) {
    cpSync(fileURLToPath(new URL(`../${name}`, built)), join(folder, name), { recursive: true })
  }
  symlinkSync(`${ROOT}node_modules`, join(folder, 'node_modules'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const SECRET = 'whsec_0123456789abcdef'

/** Runs one event whose first attempt throws, in a process with two copies. */
function run(thrown: string): { readonly at: number[]; readonly dead: number; readonly warnings: string[] } {
  const script = `
    import { createHmac } from 'node:crypto'
    import { createReceiver } from '${built}index.js'
    import { NonRetryableError, RetryAfterError } from '${folder}/dist/index.js'
    const at = [], warnings = []
    let dead = 0
    const logger = { info() {}, warn: ({ code }) => warnings.push(code), error() {} }
    const make = () => createReceiver({ secret: '${SECRET}', logger, retry: { minDelay: '10ms', maxDelay: '10ms' } })
    const receiver = make().onError(() => {}).onDeadLetter(() => dead++)
    receiver.on('*', () => {
      at.push(performance.now())
      if (at.length === 1) throw ${thrown}
    })
    await make().on('*', () => {}).start()
    const body = JSON.stringify({ id: 'evt_1', type: 'a.b', created_at: '2026-01-01T00:00:00Z', data: {} })
    const t = Math.floor(Date.now() / 1000)
    const v1 = createHmac('sha256', '${SECRET}').update(t + '.' + body).digest('hex')
    const headers = { 'x-service-signature': 't=' + t + ',v1=' + v1 }
    await receiver.handle({ method: 'POST', headers, body: new TextEncoder().encode(body) })
    await receiver.close()
    console.log(JSON.stringify({ at, dead, warnings }))`
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 30_000,
  })
  return JSON.parse(output)
}

it('a NonRetryableError from another copy of core ends the attempts; two copies are reported once', () => {
  const { at, dead, warnings } = run("new NonRetryableError('never')")
  expect([at.length, dead, warnings]).toEqual([1, 1, ['core_loaded_twice']])
})

it('a NonRetryableError from another copy counts among several errors', () => {
  expect(run("new AggregateError([new NonRetryableError('never')])").dead).toBe(1)
  expect(run("new AggregateError([new Error('no'), new NonRetryableError('never')])").dead).toBe(0)
})

it('a RetryAfterError from another copy sets the delay', () => {
  const { at } = run("new RetryAfterError('busy', '400ms')")
  expect(at).toHaveLength(2)
  expect((at[1] as number) - (at[0] as number)).toBeGreaterThanOrEqual(395)
})

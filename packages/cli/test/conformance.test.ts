import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { selfSigned } from '../../../test/support/self-signed.ts'
import { run } from '../src/run.ts'
import { runProcess, startProcess } from './cli-process.ts'
import { fakeTerminal } from './fake-terminal.ts'
import { runCli, SECRET } from './run-cli.ts'

/** Directory inside the repository, so that packages resolve as from a user's node_modules. */
const HERE = fileURLToPath(new URL('.', import.meta.url))

const STORE = `
import { memoryStore } from '@ackhook/core'
const both = store => ({ first: store, second: store })
export const open = () => both(memoryStore())
export const openSmall = maxClaims => both(memoryStore({ maxClaims }))
`
/** A store that ignores tokens, leaves a rejection, throws, and keeps the process alive. */
const FAULTY = `
import { memoryStore } from '@ackhook/core'
setInterval(() => {}, 60_000)
export function open() {
  const store = memoryStore()
  const faulty = {
    ...store,
    release: key => store.release(key, 'mine'),
    async complete(key, token, options) {
      Promise.reject(new Error('nobody listens'))
      return store.complete(key, token, options)
    },
    forget: key => store.forget(key.undefined.name),
  }
  return { first: faulty, second: faulty }
}
`
const INBOX = `
import { memoryInbox } from '@ackhook/core'
export const capabilities = { serialize: true, forgets: true }
export const open = () => ({ createInbox: () => memoryInbox() })
`
const HANGING = `
const claim = () => new Promise(() => console.error('claiming'))
export const open = () => ({ first: { claim } })
`

const quiet = { info() {}, warn() {}, error() {} }

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(HERE, '.conformance-'))
  const modules = {
    store: STORE,
    faulty: FAULTY,
    inbox: INBOX,
    hanging: HANGING,
    empty: '',
    throws: 'throw 1',
  }
  for (const [name, text] of Object.entries(modules)) await writeFile(join(folder, `${name}.mjs`), text)
})
afterAll(() => rm(folder, { recursive: true }))

const conformance = (...args: string[]) => runProcess(['conformance', ...args], { cwd: folder, env: {} })

describe('conformance --store', () => {
  test('passes a correct store, and lists the cases that were not run', async () => {
    const { code, out, err } = await conformance('--store', './store.mjs')
    expect(err).toBe('')
    expect(out).toMatch(/2 cases not run: no `openFailing`\n {2}store\.failure\.rejects/)
    expect(out).toMatch(/✓ \d\d passed, 3 not run in [\d.]+ s\n$/)
    expect(code).toBe(0)
  })

  test('fails a faulty store with the reason of each case, and ends although the module does not', async () => {
    const args = ['--case', 'store.claim.token-is-data', '--case', 'store.complete.remembers']
    const { code, out } = await conformance('--store', 'faulty.mjs', ...args, '--case', 'store.forget')
    expect(out).toMatch(/✗ store\.claim\.token-is-data\n {2}a token can be any text\n {4}\w/)
    expect(out).toMatch(/left an unhandled error: Error: nobody listens\n {4}at .*faulty\.mjs:10/)
    expect(out).toMatch(/TypeError: .*\n {4}at .*faulty\.mjs:13/)
    expect(out).toMatch(/✗ 0 passed, 3 failed, 6 not run/)
    expect(code).toBe(1)
  })

  test('reports as JSON', async () => {
    const { code, out } = await conformance('--store', 'store.mjs', '--json', '--case', 'store.full')
    const { cases, notRun, ...counts } = JSON.parse(out)
    expect(counts).toEqual({ kind: 'store', target: 'store.mjs', passed: 1, failed: 0, stopped: false })
    expect(cases).toEqual([
      { id: 'store.full', name: expect.any(String), ms: expect.any(Number), outcome: 'passed' },
    ])
    expect(notRun[0]).toMatchObject({ missing: 'openFailing', ids: expect.any(Array) })
    expect(code).toBe(0)
  })

  test('lists the cases with their needs, and runs none', async () => {
    const { code, out } = await runCli(['conformance', '--list', '--store', 'hanging.mjs'], { cwd: folder })
    expect(out).toMatch(/^store\.claim\.\S+\n {2}\w/)
    expect(out).toContain('no `openSmall`')
    const json = await runCli(['conformance', '--list', '--store', 'store.mjs', '--json'], { cwd: folder })
    const small = JSON.parse(json.out).cases.find(({ id }: { id: string }) => id === 'store.full')
    expect(small).toMatchObject({ needs: ['openSmall'], timeLimitMs: 30_000 })
    expect([code, json.code]).toEqual([0, 0])
  })

  test('shows its progress, and Ctrl-C ends it with the results so far', async () => {
    const stop = new AbortController()
    const bars: unknown[] = []
    const terminal = fakeTerminal({
      cwd: folder,
      stop: stop.signal,
      progress: (total, label) => {
        bars.push([total, label])
        return { advance: () => stop.abort(), stop: () => bars.push('stopped') }
      },
    })
    expect(await run(['conformance', '--store', 'store.mjs'], terminal)).toBe(1)
    expect(bars).toEqual([
      [expect.any(Number), expect.stringMatching(/^\d+ cases on store\.mjs$/)],
      'stopped',
    ])
    expect(terminal.printed.at(-1)).toMatch(/✗ 1 passed, 3 not run in .* s, stopped before the end$/)
  })

  test('a signal ends a case that hangs', async () => {
    const cli = startProcess(['conformance', '--store', 'hanging.mjs'], { cwd: folder, env: {} })
    await cli.complaint(/claiming/)
    cli.stop()
    expect(await cli.ended).toMatchObject({ code: 1, out: expect.stringContaining('✗ 0 passed') })
  })
})

describe('conformance --inbox', () => {
  test('passes a correct inbox', async () => {
    const { code, out } = await conformance('--inbox', 'inbox.mjs')
    expect(out).toMatch(/✓ \d\d passed/)
    expect(code).toBe(0)
  })
})

describe('conformance --url', () => {
  const servers: Server[] = []
  afterAll(() => {
    for (const server of servers) server.close().closeAllConnections()
  })

  async function serve(server: Server): Promise<string> {
    servers.push(server)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks?from=test`
  }
  const check = (url: string, ...args: string[]) =>
    runProcess(['conformance', '--url', url, ...args], { cwd: folder })

  test('passes a running receiver, and lists the cases that need its code', async () => {
    const receiver = createReceiver({
      secret: SECRET,
      logger: quiet,
      body: { limit: 100_000, timeout: '1s' },
    })
    receiver.on('*', () => {})
    const url = await serve(createServer(toNodeHandler(receiver as never)))
    const { code, out } = await check(url, '--body-limit', '100000')
    expect(out).toMatch(/no `open`\n {2}adapter\.accept\.concurrent[\s\S]*no `mount`/)
    expect(out).toMatch(/They need the adapter's code[\s\S]*✓ \d\d passed, \d+ not run/)
    expect(out).not.toContain(SECRET)
    expect(code).toBe(0)
  })

  test('fails a server that accepts events without verifying them, or forgets accepted ones', async () => {
    const url = await serve(
      createServer((request, response) => {
        request.resume().on('end', () => {
          response.writeHead(202, { 'content-type': 'application/json' }).end('{"code":"accepted"}')
        })
      }),
    )
    const ids = [
      'adapter.refuse.unsigned',
      'adapter.bytes.changed',
      'adapter.refuse.encoding',
      'adapter.method.get',
    ]
    const args = ids.flatMap(id => ['--case', id])
    const { code, out } = await check(url, ...args, '--case', 'adapter.accept.keep-alive')
    expect(out).toContain('expected 401 unauthorized, got 202')
    expect(out).toContain('✗ 1 passed, 4 failed')
    expect(code).toBe(1)
  })

  test('accepts a certificate that nobody has signed only with --insecure, which it names', async () => {
    const receiver = createReceiver({ secret: SECRET, logger: quiet })
    receiver.on('*', () => {})
    const plain = await serve(createTlsServer(selfSigned(), toNodeHandler(receiver as never)))
    const url = plain.replace('http:', 'https:')
    const refused = await check(url)
    expect(refused.err).toMatch(/DEPTH_ZERO_SELF_SIGNED_CERT.*add --insecure/s)
    expect(refused.code).toBe(2)
    const { code, out } = await check(url, '--insecure', '--case', 'adapter.accept.keep-alive')
    expect(out).toContain('✓ 1 passed')
    expect(code).toBe(0)
  })
})

describe('conformance cannot start', () => {
  test.each([
    [[], 'name what to test: --store <module>'],
    [['--store', 'store.mjs', '--inbox', 'inbox.mjs'], 'name what to test'],
    [['--store', 'missing.mjs'], 'missing.mjs cannot be loaded: Error: Cannot find module'],
    [['--store', 'throws.mjs'], 'throws.mjs cannot be loaded: 1'],
    [['--store', 'empty.mjs'], 'empty.mjs must export open: see https://'],
    [['--inbox', 'store.mjs'], 'store.mjs must export capabilities: see https://'],
    [['--store', 'store.mjs', '--body-limit', '5'], '--body-limit is only for --url'],
    [['--store', 'store.mjs', '--insecure'], '--insecure is only for --url'],
    [['--store', 'store.mjs', '--case', 'store.claim.fre'], 'there is no case store.claim.fre; did you'],
    [['--url', 'http://127.0.0.1:1/'], 'nothing responds at http://127.0.0.1:1/'],
  ])('%s', async (args, complaint) => {
    const { code, err } = await runCli(['conformance', ...args], { cwd: folder })
    expect(err).toContain(complaint)
    expect(code).toBe(2)
  })
})

import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readmeBlocks } from '../../../test/support/readme-blocks.ts'
import { ROOT } from '../../../test/support/workspace-packages.ts'
import { type FaultServer, reply, type SeenRequest, startFaultServer } from './fault-server.ts'

const PAGE = 'docs/reference/sending-messages.md'
const COLLECTION = 'docs/reference/sending-messages.openapi.json'
const apiKey = 'the-key'
const folder = `${ROOT}packages/client/test/.documented/`
const blocks = readmeBlocks(PAGE, 'sending')
const programs = blocks.filter(one => one.language !== 'sh')
const pairs = programs.flatMap((program, index) => {
  const next = blocks[blocks.indexOf(program) + 1]
  return next?.language === 'sh' ? [{ file: program.flags['file'] ?? `${index}`, curl: next.text }] : []
})

let server: FaultServer
beforeEach(async () => {
  server = await startFaultServer(reply(202, '{"id":"msg_1"}'))
  vi.stubEnv('API_KEY', apiKey)
  vi.stubEnv('API_URL', server.url)
  vi.spyOn(console, 'log').mockImplementation(() => {})
  mkdirSync(folder, { recursive: true })
})
afterEach(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  await server.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it("finds the page's calls, and a curl next to all but the one about types", () => {
  expect(pairs.map(one => one.file)).toEqual([
    'send.mjs',
    'variables.mjs',
    'timeout.mjs',
    'retry.mjs',
    'headers.mjs',
  ])
  expect(programs).toHaveLength(6)
})

describe.each(programs.map(one => ({ file: one.flags['file'] ?? '' })))('$file', ({ file }) => {
  it('sends one message', async () => {
    await runProgram(file)
    expect(server.requests).toHaveLength(1)
  })
})

describe.each(pairs)('$file', ({ file, curl }) => {
  it('sends the same request as the curl next to it, byte for byte', async () => {
    await runProgram(file)
    await promisify(execFile)('sh', ['-ec', curl])
    const [byClient, byCurl] = server.requests.map(published)
    expect(byCurl?.['authorization']).toBe(`Bearer ${apiKey}`)
    expect(byClient).toEqual(byCurl)
  })
})

it("has a README with the page's call and curl", () => {
  const readme = readFileSync(`${ROOT}packages/client/README.md`, 'utf8')
  const [curl = ''] = pairs.filter(one => one.file === 'variables.mjs').map(one => one.curl)
  expect(readme).toContain(curl)
})

describe('the request collection', () => {
  it("makes the client's request", async () => {
    await runProgram('variables.mjs')
    const { url, init } = requestOf(JSON.parse(readFileSync(ROOT + COLLECTION, 'utf8')), server.url, apiKey)
    await fetch(url, init)
    const [byClient, byCollection] = server.requests.map(published)
    expect(byCollection).toEqual(byClient)
  })
})

async function runProgram(file: string): Promise<void> {
  const program = programs.find(one => one.flags['file'] === file)
  // A module runs once, so each run has its own file.
  const path = `${folder}${performance.now()}.${file}`
  writeFileSync(path, program?.text ?? '')
  await import(/* @vite-ignore */ path)
}

/** Returns the parts of a request that the contract specifies. Each program adds a User-Agent and the like. */
function published({ method, path, headers, body }: SeenRequest): Record<string, unknown> {
  const { authorization, 'content-type': contentType, 'content-length': length, 'x-trace': trace } = headers
  return { method, path, authorization, contentType, length, trace, body }
}

interface Collection {
  readonly security: readonly Record<string, unknown>[]
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly securitySchemes: Record<string, { type: string; scheme: string }> }
}

interface Operation {
  readonly requestBody: { readonly content: Record<string, { readonly example: unknown }> }
}

/** Builds a request as a tool that imports the collection does: the only operation, its example, the user's token. */
function requestOf(collection: Collection, baseUrl: string, token: string) {
  const [[path = '', operations = {}] = []] = Object.entries(collection.paths)
  const [[method = '', operation] = []] = Object.entries(operations)
  const [[contentType = '', content] = []] = Object.entries(operation?.requestBody.content ?? {})
  const [scheme = ''] = Object.keys(collection.security[0] ?? {})
  expect(collection.components.securitySchemes[scheme]).toEqual({ type: 'http', scheme: 'bearer' })
  const headers = { authorization: `Bearer ${token}`, 'content-type': contentType }
  const body = JSON.stringify(content?.example)
  return { url: baseUrl + path, init: { method: method.toUpperCase(), headers, body } }
}

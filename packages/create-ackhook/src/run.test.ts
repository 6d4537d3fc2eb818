import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { parseEnv } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Terminal } from './command/terminal.ts'
import { run } from './run.ts'

const ENTER = '\r'
const DOWN = '\u001b[B'
const CTRL_C = '\u0003'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'create-ackhook-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function runWith(args: readonly string[], more: Partial<Terminal> = {}): Promise<Ran> {
  const [output, errors] = [new PassThrough(), new PassThrough()]
  const terminal = { input: new PassThrough(), output, errors, interactive: false, cwd, userAgent: undefined }
  const code = await run(args, { ...terminal, ...more })
  return { code, out: textOf(output), err: textOf(errors) }
}

function textOf(stream: PassThrough): string {
  return String(stream.read() ?? '')
}

function manifestIn(folder: string) {
  return JSON.parse(readFileSync(join(cwd, folder, 'package.json'), 'utf8'))
}

describe('without a terminal', () => {
  it('writes the chosen files and prints the next steps', async () => {
    const flags = [
      '--framework',
      'fastify',
      '--inbox',
      'bullmq',
      '--database',
      'none',
      '--language',
      'javascript',
      '--no-tests',
    ]
    const { code, out, err } = await runWith(['my app', ...flags])
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain("  cd 'my app'\n  npm install\n  npm run start\n")
    expect(readdirSync(join(cwd, 'my app/src')).sort()).toEqual(['app.js', 'server.js'])
    expect(manifestIn('my app').dependencies).toHaveProperty('bullmq')
    expect((await runWith(['--yes', '--', '-app'])).out).toContain('  cd ./-app\n')
  })

  it('uses the defaults for missing options with --yes', async () => {
    expect(await runWith(['--yes', '--framework', 'hono'])).toMatchObject({ code: 0, err: '' })
    expect(readdirSync(join(cwd, 'webhooks/src')).sort()).toEqual(['app.test.ts', 'app.ts', 'server.ts'])
    expect(manifestIn('webhooks').dependencies).toHaveProperty('hono')
  })

  it('makes a new secret for each project, which only this user can read', async () => {
    const secrets: string[] = []
    for (const folder of ['a', 'b']) {
      await runWith([folder, '--yes'])
      const env = parseEnv(readFileSync(join(cwd, folder, '.env'), 'utf8'))
      expect(env['SIGNING_SECRET']).toMatch(/^whsec_[\w-]{32}$/)
      secrets.push(env['SIGNING_SECRET'] ?? '')
      if (process.platform !== 'win32') expect(statSync(join(cwd, folder, '.env')).mode & 0o777).toBe(0o600)
    }
    expect(new Set(secrets).size).toBe(2)
  })

  it('asks nothing and lists the missing options', async () => {
    const { code, err } = await runWith(['a', '--inbox', 'memory'])
    expect([code, err]).toEqual([
      2,
      'Error: there is no terminal to ask questions in: add --yes for the defaults, or give --framework, --database, --language, --tests\n',
    ])
    expect(readdirSync(cwd)).toEqual([])
  })

  it('prints the commands of the package manager that runs it', async () => {
    const { out } = await runWith(['a', '--yes'], { userAgent: 'pnpm/10.1.0 npm/? node/v22.1.0' })
    expect(out).toContain('  pnpm install\n  pnpm run start\n')
    expect(readFileSync(join(cwd, 'a/README.md'), 'utf8')).toContain('pnpm run emulator')
    expect((await runWith(['b', '--yes'], { userAgent: 'other/1.0' })).out).toContain('npm install')
  })
})

describe('the folder', () => {
  it('may be empty or contain only a repository', async () => {
    mkdirSync(join(cwd, '.git'))
    const { code, out } = await runWith(['.', '--yes'])
    expect(code).toBe(0)
    expect(out).not.toContain('cd ')
  })

  it('is refused if it has files, which stay unchanged', async () => {
    mkdirSync(join(cwd, 'a'))
    for (const name of ['1', '2', '3', 'package.json']) writeFileSync(join(cwd, 'a', name), 'mine')
    expect(await runWith(['a', '--yes'])).toEqual({
      code: 2,
      out: '',
      err: 'Error: a is not empty (1, 2, 3 and 1 more): choose another folder\n',
    })
    expect(readdirSync(join(cwd, 'a'))).toHaveLength(4)
    expect((await runWith(['a/1/b', '--yes'])).err).toBe('Error: a/1/b is not a folder: choose another one\n')
  })

  it('is refused if it cannot be written', async () => {
    symlinkSync('loop', join(cwd, 'loop'))
    expect(await runWith(['loop/app', '--yes'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('ELOOP'),
    })
  })
})

describe('a mistake', () => {
  it.each([
    [['--framework', 'koa'], '--framework koa: choose one of express, fastify, hono'],
    [['--inbox', 'toString'], '--inbox toString: choose one of memory, sqlite, bullmq'],
    [['--framwork', 'hono'], "Unknown option '--framwork': add --help for the options"],
    [['a', 'b'], 'give one folder, not a and b'],
  ])('%j is reported with the fix', async (args, message) => {
    expect(await runWith(args)).toEqual({ code: 2, out: '', err: `Error: ${message}\n` })
  })

  it('help and version are not mistakes', async () => {
    expect(await runWith(['--help'])).toMatchObject({ code: 0, out: expect.stringContaining('--no-tests') })
    expect(await runWith(['--version'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n/),
    })
    for (const line of (await runWith(['--help'])).out.split('\n')) expect(line.length).toBeLessThan(80)
  })
})

describe('in a terminal', () => {
  /** Types an answer to each question once it is shown. */
  async function runTyping(
    answers: readonly (readonly [question: string, ...keys: string[]])[],
    args: string[] = [],
  ) {
    const [input, output] = [new PassThrough(), new PassThrough()]
    let shown = ''
    output.on('data', chunk => (shown += chunk))
    const ended = runWith(args, { input, output, interactive: true })
    for (const [question, ...keys] of answers) {
      await vi.waitFor(() => expect(shown).toContain(question))
      for (const key of keys) input.write(key)
    }
    return { ...(await ended), shown }
  }

  it('asks for missing options, and shows why a folder is refused', async () => {
    mkdirSync(join(cwd, 'taken'))
    writeFileSync(join(cwd, 'taken/file'), 'mine')
    const { code, shown } = await runTyping(
      [
        ['Which folder?', 'taken', ENTER],
        ['taken is not empty (file): choose another folder', '-not', ENTER],
        ['Which framework?', DOWN, DOWN, ENTER],
        ['Where do handlers write?', ENTER],
        ['Which language?', DOWN, ENTER],
        ['Add a test', 'n', ENTER],
      ],
      ['--inbox', 'sqlite'],
    )
    expect(code).toBe(0)
    expect(shown).not.toContain('Where do events wait')
    expect(readdirSync(join(cwd, 'taken-not/src')).sort()).toEqual(['app.js', 'server.js'])
    expect(Object.keys(manifestIn('taken-not').dependencies)).toEqual(
      expect.arrayContaining(['hono', '@ackhook/sqlite']),
    )
  })

  it('writes nothing if the user cancels', async () => {
    const { code, shown } = await runTyping([
      ['Which folder?', ENTER],
      ['Which framework?', CTRL_C],
    ])
    expect(code).toBe(1)
    expect(shown).toContain('Nothing was written.')
    expect(readdirSync(cwd)).toEqual([])
  })
})

import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RECEIVER_OPTIONS } from '@ackhook/core/spi'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { inFull } from '../support/in-full.ts'
import { ROOT, workspacePackages } from '../support/workspace-packages.ts'
import { run } from './run.ts'

// One project has every tarball and every compiler, without skipLibCheck: our declarations and our peers' must be correct
// on their own.
const project = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-types-')))
const consumers = workspacePackages()
  // The others have only a command.
  .filter(one => '.' in (one.manifest.exports ?? {}))
  .map(one => one.folder)

/** The oldest, a middle and the newest compiler, and those between them in the nightly run. */
const COMPILERS = ['ts52', 'ts59', 'ts70']
const MORE = { ts53: '5.3.3', ts54: '5.4.5', ts55: '5.5.4', ts56: '5.6.3', ts57: '5.7.3', ts58: '5.8.3' }
const added = inFull<Readonly<Record<string, string>>>(MORE, {})
const compilers = [...COMPILERS, ...inFull(['ts60'], []), ...Object.keys(added)]

/**
 * Known errors: Fastify's declarations use `NoInfer`, new in TypeScript 5.4, and Hono's `Uint8Array<ArrayBuffer>`, new in
 * 5.7. Ours must compile with them.
 */
const FAULTS_OF_PEERS =
  /^node_modules\/(?:fastify\/types\/.*: error TS2304: Cannot find name 'NoInfer'|hono\/dist\/.*: error TS2315: Type 'Uint8Array' is not generic)\.\n/gm
const isOlderThan = (compiler: string, minor: number): boolean => Number(compiler.slice(2)) < minor

/** Known errors: @types/koa uses a type of content-disposition 1, which release 2 renamed. */
const FAULTS_OF_KOA =
  /^node_modules\/@types\/koa\/index\.d\.ts\(.*: error TS2694: .*content-disposition.* 'Options'\.\n/gm

const STRICT = {
  module: 'nodenext',
  moduleResolution: 'nodenext',
  target: 'es2022',
  lib: ['es2022'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
}

beforeAll(async () => {
  cpSync(`${ROOT}test/packaging/fixtures/consumer`, project, { recursive: true })
  const files = [
    ...inject('tarballs').map(one => one.file),
    ...Object.entries(added).map(([name, version]) => `${name}@npm:typescript@${version}`),
  ]
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', ...files], {
    cwd: project,
  })
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

describe.each(compilers)('%s', compiler => {
  it.each([
    ...inFull([{ module: 'node16', moduleResolution: 'node16' }], []),
    { module: 'nodenext', moduleResolution: 'nodenext' },
    { module: 'esnext', moduleResolution: 'bundler' },
  ])('compiles a consumer of every package under $moduleResolution', async resolution => {
    const name = `tsconfig.${compiler}.${resolution.moduleResolution}.json`
    const compilerOptions = { ...STRICT, ...resolution, skipLibCheck: false }
    const files = consumers.map(folder => `${folder}.ts`)
    writeFileSync(join(project, name), JSON.stringify({ compilerOptions, files }))
    const output = await compile(compiler, name)
    expect(isOlderThan(compiler, 57) ? output.replace(FAULTS_OF_PEERS, '') : output).toBe('')
  })

  it.each([
    { kind: 'exports without types', file: 'exported', isolatedDeclarations: undefined },
    // New in TypeScript 5.5.
    ...(isOlderThan(compiler, 55)
      ? []
      : [{ kind: 'isolated exports', file: 'isolated', isolatedDeclarations: true }]),
  ])(
    'writes the declarations of $kind, and they name public modules only',
    async ({ file, isolatedDeclarations }) => {
      const name = `tsconfig.${compiler}.${file}.json`
      const outDir = `out/${compiler}`
      const emit = {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        isolatedDeclarations,
        outDir,
      }
      writeFileSync(
        join(project, name),
        JSON.stringify({ compilerOptions: { ...STRICT, ...emit }, files: [`${file}.ts`] }),
      )
      expect(await compile(compiler, name)).toBe('')
      expect(readFileSync(join(project, outDir, `${file}.d.ts`), 'utf8')).not.toMatch(/dist\/|node_modules/)
    },
  )

  it('compiles @ackhook/core/node with @koa/bodyparser, which declares rawBody on every request', async () => {
    const name = `tsconfig.${compiler}.koa.json`
    const compilerOptions = { ...STRICT, skipLibCheck: false }
    writeFileSync(join(project, name), JSON.stringify({ compilerOptions, files: ['koa.ts'] }))
    expect((await compile(compiler, name)).replace(FAULTS_OF_KOA, '')).toBe('')
  })
})

/** The compiler's message for each line of mistakes.ts. Fastify's own overloads come before the last three. */
const MESSAGES: Readonly<Record<string, RegExp>> = {
  'forgotten secret':
    /Property 'secret' is missing in type '\{\}' but required in type 'ReceiverOptions<.*>'\.$/,
  'forgotten secret in Hono':
    /Property 'secret' is missing in type '\{\}' but required in type 'ReceiverOptions<.*>'\.$/,
  'forgotten secret in Fastify':
    /Property 'secret' is missing in type '\{ path: string; \}' but required in type 'FastifyWebhooksOptions'\.$/,
  'misspelled option':
    /'secrets' does not exist in type 'ReceiverOptions<.*>'\. Did you mean to write 'secret'\?$/,
  'misspelled option among others': /'tolerence' does not exist in .*\. Did you mean to write 'tolerance'\?$/,
  'misspelled option in Fastify':
    /'pth' does not exist in type 'FastifyRegisterOptions<FastifyWebhooksOptions>'\.$/,
  'bare number': /Type 'number' is not assignable to type 'false \| `\$\{number\}[a-z]+`.*'\.$/,
  'text for a number': /Type 'string' is not assignable to type 'number \| ConcurrencyOptions.*'\.$/,
  'store as inbox': /Type 'DedupeStore' is missing the following properties from type 'Inbox': accept, /,
  'inbox as store': /Type 'Inbox' is missing the following properties from type 'DedupeStore': claim, /,
  'misspelled field':
    /'resolvedBy' does not exist on type 'ConversationResolvedData'\. Did you mean 'resolved_by'\?$/,
  'misspelled type of a category':
    /the types '"conversation\.resolved" \| .*' and '"conversation\.resolvd"' have no overlap\.$/,
  'forgotten handler': /Expected 2 arguments, but got 1\.$/,
  'options for a receiver':
    /'secret' does not exist in type 'Pick<Receiver<never, FetchContext<unknown>>, "handle">'\.$/,
  'test without options': /Expected 2 arguments, but got 1\.$/,
  'seconds in RetryAfterError':
    /Argument of type '60' is not assignable to parameter of type '.*`\$\{number\}s`.*'\.$/,
}

describe.each(['ts59', 'ts60', 'ts70'])('%s', compiler => {
  it('explains the most common mistakes', async () => {
    const name = `tsconfig.${compiler}.mistakes.json`
    writeFileSync(join(project, name), JSON.stringify({ compilerOptions: STRICT, files: ['mistakes.ts'] }))
    const lines = readFileSync(join(project, 'mistakes.ts'), 'utf8').split('\n')
    const said = new Map<string, string>()
    for (const error of (await compile(compiler, name)).split(/^(?=\S+\(\d+,\d+\): error)/m)) {
      const line = lines[Number(/^mistakes\.ts\((\d+),/.exec(error)?.[1]) - 1] ?? ''
      said.set(/^\/\* (.*) \*\//.exec(line)?.[1] ?? error, error.trimEnd())
    }
    expect([...said.keys()].sort()).toEqual(Object.keys(MESSAGES).sort())
    for (const [mistake, message] of Object.entries(MESSAGES)) expect(said.get(mistake)).toMatch(message)
  })
})

it.each(['ts59', 'ts60'])('%s completes the options of webhooks, and nothing else', compiler => {
  const ts = createRequire(join(project, 'package.json'))(compiler)
  const file = join(project, 'completion.ts')
  const text = "import { webhooks } from '@ackhook/express'\nwebhooks({  })"
  const read = (path: string) => (path === file ? text : ts.sys.readFile(path))
  const service = ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path: string) => {
      const content = read(path)
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content)
    },
    getCurrentDirectory: () => project,
    getCompilationSettings: () => ({
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      strict: true,
    }),
    getDefaultLibFileName: (options: object) => ts.getDefaultLibFilePath(options),
    readFile: read,
  })
  const completion = service.getCompletionsAtPosition(file, text.indexOf('{  }') + 2, {})
  expect(completion?.entries.map((entry: { name: string }) => entry.name).sort()).toEqual(
    [...RECEIVER_OPTIONS].sort(),
  )
})

/** Returns the compiler's output, with or without errors. */
function compile(compiler: string, config: string): Promise<string> {
  return new Promise(resolve => {
    const args = [`node_modules/${compiler}/bin/tsc`, '-p', config, '--pretty', 'false']
    execFile('node', args, { cwd: project }, (_error, stdout, stderr) => resolve(stdout + stderr))
  })
}

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ReadmeBlock, readmeBlocks } from '../../../test/support/readme-blocks.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const run = promisify(execFile)
const PACKAGES = ['core', 'express', 'testing', 'sqlite', 'emulator', 'dashboard', 'cli']
const MINUTES = 60_000

let scratch: string
let folder: string
let tarballs: ReadonlyMap<string, string>
let server: ChildProcess | undefined

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'ackhook-first-hour-'))
  folder = await mkdtemp(join(scratch, 'app-'))
  tarballs = await pack(scratch, folder)
}, 5 * MINUTES)

afterAll(async () => {
  // The whole group: otherwise the shell in between would leave the app running.
  if (server?.pid !== undefined) process.kill(-server.pid)
  await rm(scratch, { recursive: true, force: true })
})

/** The section is in the README of the repository or in that of the command line. */
function sectionOf(name: string): readonly ReadmeBlock[] {
  for (const path of ['README.md', 'packages/cli/README.md']) {
    try {
      const blocks = readmeBlocks(path, name)
      if (blocks.length > 0) return blocks
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  throw new Error(`no README has blocks marked <!-- test: ${name} -->`)
}

/** Tarballs by package name, beside the empty folder, not in it. */
async function pack(parent: string, beside: string): Promise<ReadonlyMap<string, string>> {
  const target = await mkdtemp(join(parent, 'ackhook-tarballs-'))
  const workspaces = PACKAGES.flatMap(name => ['--workspace', `packages/${name}`])
  await run('npm', ['pack', '--pack-destination', target, ...workspaces], { cwd: ROOT })
  const files = await readdir(target)
  expect(beside).not.toBe(target)
  return new Map(
    PACKAGES.map(directory => {
      const { name, version } = JSON.parse(
        readFileSync(join(ROOT, 'packages', directory, 'package.json'), 'utf8'),
      )
      const file = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
      expect(files).toContain(file)
      return [name, join(target, file)]
    }),
  )
}

/** The command of the README, with packages that are not published yet and with a free port. */
function adapt(command: string, port: number): string {
  const moved = command.replaceAll(':3000', `:${port}`)
  if (!moved.includes('npm install')) return moved
  const named = moved.split(/\s+/).map(word => tarballs.get(word) ?? word)
  // The dependencies of these packages are not published either.
  const others = [...tarballs.values()].filter(file => !named.includes(file))
  return [...named, ...others].join(' ')
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0)
  await new Promise(resolve => probe.once('listening', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise(resolve => probe.close(resolve))
  return port
}

test(
  'the README takes a new user from an empty folder to a handled event',
  async () => {
    const port = await freePort()
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: String(port) }
    let printed = ''
    const shown: string[] = []
    const printedBy = (text: string) => {
      printed += text
    }
    for (const block of sectionOf('first-hour')) {
      if (block.flags['file'] !== undefined) {
        await writeFile(join(folder, block.flags['file']), `${block.text}\n`)
      } else if ('background' in block.flags) {
        server = spawn('sh', ['-ec', adapt(block.text, port)], { cwd: folder, env, detached: true })
        server.stdout?.setEncoding('utf8').on('data', printedBy)
        server.stderr?.setEncoding('utf8').on('data', printedBy)
        await expect.poll(() => printed, { timeout: MINUTES }).toContain('Ready')
      } else {
        const commands = block.text
          .split('\n')
          .map(line => adapt(line, port))
          .join('\n')
        const { stdout } = await run('sh', ['-ec', commands], { cwd: folder, env })
        shown.push(stdout)
      }
    }
    expect(shown.at(-1)).toMatch(/202 accepted[\s\S]*1 event sent, 1 acknowledged[\s\S]*200 duplicate/)
    await expect.poll(() => printed.match(/cnv_\w+ was resolved by ai/g)?.length).toBe(2)
  },
  5 * MINUTES,
)

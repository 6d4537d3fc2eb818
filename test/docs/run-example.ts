import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'

/** A program from a document, running as its reader would run it. */
export interface RunningExample {
  readonly base: string
  /** Everything it has printed. */
  printed(): string
  /** Sends SIGTERM and waits for the end. Answers the exit code. */
  stop(): Promise<number | null>
}

const root = fileURLToPath(new URL('../../', import.meta.url))
const PATIENCE_MS = 20_000

/**
 * Writes the code into a file beside the tests, where packages resolve as they do for a user (to what is
 * built), and runs it with plain Node until it listens on `PORT`.
 */
export async function runExample(
  code: string,
  env: Readonly<Record<string, string>>,
): Promise<RunningExample> {
  const port = await freePort()
  const folder = `${root}test/docs/.examples`
  const file = `${folder}/${port}.mjs`
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, code)
  const child = spawn(process.execPath, [file], {
    env: { PATH: process.env['PATH'], PORT: String(port), ...env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  const base = `http://127.0.0.1:${port}`
  await listens(base, child, () => output)
  return {
    base,
    printed: () => output,
    async stop() {
      child.kill('SIGTERM')
      const code = await ended
      rmSync(file)
      return code
    },
  }
}

async function listens(base: string, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the example ended with ${child.exitCode}:\n${output()}`)
    if (await fetch(base).catch(() => undefined)) return
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  child.kill()
  throw new Error(`the example did not listen:\n${output()}`)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

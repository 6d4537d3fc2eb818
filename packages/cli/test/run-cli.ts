import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))

export const SECRET = 'whsec_0123456789abcdef'
export const OTHER_SECRET = 'whsec_fedcba9876543210'

export interface CliOptions {
  /** In addition to PATH. Default: only SIGNING_SECRET. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** The user that runs it, where this process may choose one. */
  readonly uid?: number
}

export interface CliResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface RunningCli {
  readonly child: ChildProcess
  /** Resolves with the first matching line of standard output. Rejects when the process ends before that. */
  line(pattern: RegExp): Promise<string>
  readonly ended: Promise<CliResult>
}

/** Starts the built command line as a process of its own, without a terminal. */
export function startCli(args: readonly string[], options: CliOptions = {}): RunningCli {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd,
    ...(options.uid !== undefined && { uid: options.uid }),
    env: { PATH: process.env['PATH'], ...(options.env ?? { SIGNING_SECRET: SECRET }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  const waiting: { pattern: RegExp; found: (line: string) => void; failed: (error: Error) => void }[] = []
  const look = (): void => {
    for (const one of [...waiting]) {
      const line = out.split('\n').find(text => one.pattern.test(text))
      if (line === undefined) continue
      waiting.splice(waiting.indexOf(one), 1)
      one.found(line)
    }
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
    look()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => {
      for (const { pattern, failed } of waiting)
        failed(new Error(`ended without ${String(pattern)}: ${out}${err}`))
      resolve({ code, out, err })
    })
  })
  return {
    child,
    ended,
    line: pattern =>
      new Promise((found, failed) => {
        waiting.push({ pattern, found, failed })
        look()
      }),
  }
}

export function runCli(args: readonly string[], options?: CliOptions): Promise<CliResult> {
  return startCli(args, options).ended
}

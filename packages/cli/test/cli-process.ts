import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Lines } from './lines.ts'
import { type CliOptions, type CliResult, type RunningCli, SECRET } from './run-cli.ts'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))

interface ProcessOptions extends CliOptions {
  /** User id of the process. Only root can choose one. */
  readonly uid?: number
}

interface CliProcess extends RunningCli {
  readonly child: ChildProcess
}

/**
 * Starts the built command line as a separate process, without a terminal. This costs a second of CPU time, so use it
 * only for what `startCli` cannot show, such as signals, pipes and the natural end of the process.
 */
export function startProcess(args: readonly string[], options: ProcessOptions = {}): CliProcess {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd,
    ...(options.uid !== undefined && { uid: options.uid }),
    env: { PATH: process.env['PATH'], ...(options.env ?? { SIGNING_SECRET: SECRET }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const out = new Lines()
  const err = new Lines()
  child.stdout.setEncoding('utf8').on('data', (text: string) => out.add(text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => err.add(text))
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => {
      out.end()
      err.end()
      resolve({ code, out: out.text, err: err.text })
    })
  })
  return {
    child,
    ended,
    line: pattern => out.find(pattern),
    complaint: pattern => err.find(pattern),
    stop: () => void child.kill('SIGTERM'),
  }
}

export function runProcess(args: readonly string[], options?: ProcessOptions): Promise<CliResult> {
  return startProcess(args, options).ended
}

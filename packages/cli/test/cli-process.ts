import { type ChildProcess, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findProgram } from '../../../test/support/find-program.ts'
import { Lines } from './lines.ts'
import { type CliOptions, type CliResult, type RunningCli, SECRET } from './run-cli.ts'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))

const isRoot = process.getuid?.() === 0

/** Whether `bound` works for this user: root needs `setpriv`, which is part of Debian. */
export const canBeBound = !isRoot || findProgram('setpriv') !== undefined

/** The owner of the checkout rather than any other user, who may not be let into its folder. */
function bound(): string[] {
  const rights = '-dac_override,-dac_read_search'
  const owner = `--reuid=${statSync(MAIN).uid}`
  return ['setpriv', owner, '--clear-groups', `--inh-caps=${rights}`, `--bounding-set=${rights}`]
}

interface ProcessOptions extends CliOptions {
  /** Runs the process bound by the permissions of files, also for root: see {@link canBeBound}. */
  readonly bound?: boolean
}

interface CliProcess extends RunningCli {
  readonly child: ChildProcess
}

/**
 * Starts the built command line as a separate process, without a terminal. This costs a second of CPU time, so use it
 * only for what `startCli` cannot show, such as signals, pipes and the natural end of the process.
 */
export function startProcess(args: readonly string[], options: ProcessOptions = {}): CliProcess {
  const [program, ...before] = [...(options.bound && isRoot ? bound() : []), process.execPath]
  const child = spawn(program as string, [...before, MAIN, ...args], {
    cwd: options.cwd,
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

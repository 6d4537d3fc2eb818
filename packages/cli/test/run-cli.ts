import { run } from '../src/run.ts'
import { fakeTerminal } from './fake-terminal.ts'
import { Lines } from './lines.ts'

export const SECRET = 'whsec_0123456789abcdef'
export const OTHER_SECRET = 'whsec_fedcba9876543210'

export interface CliOptions {
  /** Default: only SIGNING_SECRET. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** What standard input holds. Only for `startCli`. */
  readonly piped?: string
}

export interface CliResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface RunningCli {
  /** Resolves with the first matching line of standard output. Rejects if the command ends first. */
  line(pattern: RegExp): Promise<string>
  /** Does the same for standard error. */
  complaint(pattern: RegExp): Promise<string>
  /** Ends the command, as Ctrl-C does. */
  stop(): void
  readonly ended: Promise<CliResult>
}

/** Runs the command line in this process, without a terminal. `startProcess` uses a separate process. */
export function startCli(args: readonly string[], options: CliOptions = {}): RunningCli {
  const out = new Lines()
  const err = new Lines()
  const stop = new AbortController()
  const terminal = fakeTerminal({
    out: line => out.add(`${line}\n`),
    err: line => err.add(`${line}\n`),
    env: options.env ?? { SIGNING_SECRET: SECRET },
    ...(options.piped !== undefined && { piped: options.piped }),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    stop: stop.signal,
  })
  const ended = run(args, terminal).then(code => {
    out.end()
    err.end()
    return { code, out: out.text, err: err.text }
  })
  return {
    ended,
    line: pattern => out.find(pattern),
    complaint: pattern => err.find(pattern),
    stop: () => stop.abort(),
  }
}

export function runCli(args: readonly string[], options?: CliOptions): Promise<CliResult> {
  return startCli(args, options).ended
}

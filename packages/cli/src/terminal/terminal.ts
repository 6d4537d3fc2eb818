import { confirm, isCancel, password, progress } from '@clack/prompts'

/** A command's environment: output, prompts and variables. */
export interface Terminal {
  /**
   * One line for standard output: the result. `exact`: what another program needs byte for byte, such as a body. A person
   * sees its control characters escaped nevertheless.
   */
  out(line: string, form?: 'exact'): void
  /** One line for standard error: everything that is not the result. */
  err(line: string): void
  readonly colors: boolean
  /** Width of a terminal; none for a pipe or a file. */
  readonly columns?: number | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly stop: AbortSignal
  /** Reads all of standard input. Once: a second call resolves with `undefined`. */
  input(): Promise<Uint8Array | undefined>
  /** Prompts without echo. Resolves with `undefined` if the terminal is not interactive or the user cancels. */
  askSecret(question: string): Promise<string | undefined>
  /** Resolves with `undefined` if the terminal is not interactive. */
  confirm(question: string): Promise<boolean | undefined>
  /** Shows a progress bar on a terminal, and nothing elsewhere. */
  progress(total: number, label: string): Progress
}

/** Progress of a long run. */
export interface Progress {
  advance(): void
  stop(): void
}

const SILENT: Progress = { advance() {}, stop() {} }
/** Minimum number of steps for a progress bar. A shorter run ends before anyone could read it. */
const SHORT_RUN = 20

/** The terminal of this process. Prompts and bars go to standard error: standard output may be a pipe. */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process
  const stop = new AbortController()
  for (const stream of [stdout, stderr]) stream.on('error', error => onBrokenPipe(error, stop))
  const interactive = stdin.isTTY === true && stderr.isTTY === true && !env['CI']
  return {
    out: line => void stdout.write(`${line}\n`),
    err: line => void stderr.write(`${line}\n`),
    colors: stdout.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb',
    ...(stdout.isTTY === true && { columns: stdout.columns }),
    env,
    cwd: process.cwd(),
    stop: stopSignal(stop),
    input: standardInput(),
    async askSecret(question) {
      if (!interactive) return undefined
      const answer = await password({ message: question, output: stderr })
      return isCancel(answer) ? undefined : answer
    },
    async confirm(question) {
      if (!interactive) return undefined
      const answer = await confirm({ message: question, initialValue: false, output: stderr })
      return answer === true
    },
    progress(total, label) {
      if (!interactive || total < SHORT_RUN) return SILENT
      const bar = progress({ max: total, output: stderr })
      bar.start(label)
      return { advance: () => bar.advance(), stop: () => bar.stop(label) }
    },
  }
}

function standardInput(): Terminal['input'] {
  let isRead = false
  return async () => {
    if (isRead) return undefined
    isRead = true
    const { stdin, stderr } = process
    if (stdin.isTTY)
      stderr.write('Reading standard input. End it with Ctrl-D, or Ctrl-Z and Enter on Windows.\n')
    const chunks: Uint8Array[] = []
    for await (const chunk of stdin as AsyncIterable<Uint8Array>) chunks.push(chunk)
    return Buffer.concat(chunks)
  }
}

/** A reader such as `head` may close the pipe early. That is not an error, and ends the command. */
function onBrokenPipe(error: NodeJS.ErrnoException, stop: AbortController): void {
  if (error.code !== 'EPIPE') throw error
  stop.abort()
}

/** The first Ctrl-C ends the command gracefully; a second one ends the process at once. */
function stopSignal(stop: AbortController): AbortSignal {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  return stop.signal
}

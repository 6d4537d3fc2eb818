import { confirm, isCancel, password, progress } from '@clack/prompts'
import type { Progress, Terminal } from './terminal.ts'

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

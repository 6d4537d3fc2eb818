import { AckhookError } from '@ackhook/core'
import { isError } from '@ackhook/core/spi'
import { CommanderError } from 'commander'
import { EXIT } from './command/exit-codes.ts'
import { QUOTING } from './command/read-data.ts'
import { UsageError } from './command/usage-error.ts'
import { createProgram } from './program.ts'
import { createPaint } from './terminal/paint.ts'
import type { Terminal } from './terminal/terminal.ts'

/**
 * Runs one command and resolves with its exit code. Never rejects, never ends the process.
 *
 * @example
 * process.exitCode = await run(['verify', 'deliveries'], terminal)
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = EXIT.ok
  const program = createProgram(terminal, code => {
    exitCode = code
  })
  try {
    await program.parseAsync([...args], { from: 'user' })
    return exitCode
  } catch (error) {
    // Commander has already printed its message. --help and --version are not errors.
    if (error instanceof CommanderError) {
      if (error.code === 'commander.excessArguments' && args.some(isDataOption)) terminal.err(SPLIT_DATA)
      return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    }
    if (args.includes('--json')) terminal.err(JSON.stringify({ error: messageOf(error) }))
    else terminal.err(`${createPaint(terminal.colors).bad('Error:')} ${messageOf(error)}`)
    return EXIT.usage
  }
}

/** Without quotes around it, a shell splits JSON at its spaces, or at its commas. */
const SPLIT_DATA = `The shell may have split the JSON, or taken its quotes. ${QUOTING}`

function isDataOption(arg: string): boolean {
  return /^--(raw-)?data(=|$)|^--variables(=|$)/.test(arg)
}

function messageOf(error: unknown): string {
  if (error instanceof UsageError || error instanceof AckhookError) return error.message
  return isError(error) ? `${error.name}: ${error.message}` : String(error)
}

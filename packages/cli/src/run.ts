import { createRequire } from 'node:module'
import { AckhookError } from '@ackhook/core'
import { isError } from '@ackhook/core/spi'
import { Command, CommanderError } from 'commander'
import { EXIT } from './command/exit-codes.ts'
import type { Finish } from './command/finish.ts'
import { QUOTING } from './command/read-data.ts'
import { UsageError } from './command/usage-error.ts'
import { conformanceCommand } from './conformance/conformance-command.ts'
import { driftCommand } from './contract/drift-command.ts'
import { typesCommand } from './contract/types-command.ts'
import { verifyCommand } from './doctor/verify.ts'
import { emulatorCommand } from './emulator/emulator-command.ts'
import { inboxCommand } from './inbox/inbox-command.ts'
import { openInbox } from './inbox/open-inbox.ts'
import { listenCommand } from './listen/listen.ts'
import { mcpCommand } from './mcp/mcp-command.ts'
import { replayCommand } from './send/replay.ts'
import { sendCommand } from './send/send.ts'
import { sqlCommand } from './sql/sql-command.ts'
import { guarded } from './terminal/guarded.ts'
import type { Terminal } from './terminal/terminal.ts'
import { createPaint } from './terminal/text.ts'

/** Runs one command and resolves with its exit code. Never rejects, never ends the process. */
export async function run(args: readonly string[], unguarded: Terminal): Promise<number> {
  const isJson = args.includes('--json')
  const terminal = guarded(unguarded, { isJson })
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
    if (isJson) terminal.err(JSON.stringify({ error: messageOf(error) }))
    else
      terminal.err(
        `${createPaint(terminal.colors).bad('Error:')} ${messageOf(error).replaceAll('\n', '\n  ')}`,
      )
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

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

/** Creates all commands with their options. `finish` receives the exit code of the command that ran. */
function createProgram(terminal: Terminal, finish: Finish): Command {
  const program = new Command('ackhook')
    .description('Send, receive, replay and diagnose webhooks without the platform')
    .version(version)
    .addHelpText('after', HELP)
  program
    .addCommand(sendCommand(terminal, finish))
    .addCommand(emulatorCommand(terminal, finish))
    .addCommand(listenCommand(terminal, finish))
    .addCommand(replayCommand(terminal, finish))
    .addCommand(verifyCommand(terminal, finish))
    .addCommand(typesCommand(terminal, finish))
    .addCommand(driftCommand(terminal, finish))
    .addCommand(inboxCommand(terminal, finish, openInbox))
    .addCommand(sqlCommand(terminal, finish))
    .addCommand(mcpCommand(terminal, finish, version))
    .addCommand(conformanceCommand(terminal, finish))
  routeOutput(program, terminal)
  return program
}

/** Makes every command throw its errors instead of exiting, and routes its output through the terminal. */
function routeOutput(command: Command, terminal: Terminal): void {
  const line = (text: string) => text.replace(/\n$/, '')
  command
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('(add --help for the options and examples)')
    .configureOutput({
      writeOut: text => terminal.out(line(text)),
      writeErr: text => terminal.err(line(text)),
      getOutHasColors: () => terminal.colors,
      getErrHasColors: () => terminal.colors,
    })
  for (const child of command.commands) routeOutput(child, terminal)
}

const HELP = `
Secret:
  SIGNING_SECRET            the endpoint's signing secret
  SIGNING_SECRET_2 ... _9   the other secrets during a rotation
  --secrets-file <file>     reads them from a file, such as .env

Exit codes:
  0  everything was acknowledged, verified or found; every case passed
  1  something was refused, did not verify or was not found; a case failed
  2  the command could not start: a wrong option, an unreadable file, no secret

Examples:
  $ export SIGNING_SECRET=only-for-trying-it-out
  $ ackhook send conversation.resolved --to http://localhost:3000/webhooks
  $ ackhook listen --port 4000 --forward http://localhost:3000/webhooks --save deliveries
  $ ackhook verify deliveries`

import { createRequire } from 'node:module'
import { Command } from 'commander'
import type { Finish } from './command/finish.ts'
import { conformanceCommand } from './conformance/conformance-command.ts'
import { emulatorCommand } from './emulator/emulator-command.ts'
import { inboxCommand } from './inbox/inbox-command.ts'
import { openInbox } from './inbox/open-inbox.ts'
import { listenCommand } from './listen/listen-command.ts'
import { replayCommand } from './replay/replay-command.ts'
import { sendCommand } from './send/send-command.ts'
import { sqlCommand } from './sql/sql-command.ts'
import type { Terminal } from './terminal/terminal.ts'
import { verifyCommand } from './verify/verify-command.ts'

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

/** Creates all commands with their options. `finish` receives the exit code of the command that ran. */
export function createProgram(terminal: Terminal, finish: Finish): Command {
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
    .addCommand(inboxCommand(terminal, finish, openInbox))
    .addCommand(sqlCommand(terminal, finish))
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

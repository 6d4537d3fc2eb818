import { nearest } from '@ackhook/core/spi'
import { Command } from 'commander'
import type { Finish } from '../command/finish.ts'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { DELIVERY_VERBS } from './delivery-verbs.ts'
import { ENDPOINT_VERBS } from './endpoint-verbs.ts'
import { MESSAGE_VERBS } from './message-verbs.ts'
import { SERVER_VERBS } from './server-verbs.ts'
import { START } from './start.ts'
import type { Verb } from './verb.ts'

/** All verbs by heading in the help. A verb precedes those that begin with its name. */
export const VERBS: Readonly<Record<string, readonly Verb<never>[]>> = {
  'Start here:': [START],
  'Deliveries:': DELIVERY_VERBS,
  'Endpoint:': ENDPOINT_VERBS,
  'Messages:': MESSAGE_VERBS,
  'Emulator:': SERVER_VERBS,
}

export function emulatorCommand(terminal: Terminal, finish: Finish): Command {
  const root = new Command('emulator')
    .description('Emulate the platform on this machine, with retries, a log and replay')
    .addHelpText('after', HELP)
  for (const [heading, verbs] of Object.entries(VERBS)) {
    for (const verb of verbs) {
      const [first = '', second] = verb.name.split(' ')
      if (second === undefined) root.addCommand(commandOf(verb, first, terminal, finish).helpGroup(heading))
      else
        addBehind(
          root.commands.find(one => one.name() === first),
          verb,
          second,
          terminal,
          finish,
        )
    }
  }
  return root
}

function commandOf(verb: Verb<never>, name: string, terminal: Terminal, finish: Finish): Command {
  const command = new Command(name).description(verb.description)
  for (const [argument, meaning] of verb.args ?? []) command.argument(argument, meaning)
  for (const add of verb.options ?? []) add(command)
  if (verb.help !== undefined) command.addHelpText('after', `\n${verb.help}`)
  return command.action(async () => {
    if (command.commands.length > 0) refuseUnknown(command)
    // Includes a flag before the second word, such as --workspace.
    finish(await verb.run(command.args, command.optsWithGlobals() as never, terminal))
  })
}

/** Adds a subcommand such as `endpoint pause`. A flag belongs to the word that it follows. */
function addBehind(
  parent: Command | undefined,
  verb: Verb<never>,
  name: string,
  terminal: Terminal,
  finish: Finish,
): void {
  parent
    ?.enablePositionalOptions()
    .allowExcessArguments()
    .addCommand(commandOf(verb, name, terminal, finish))
}

/** Rejects a misspelled second word, which Commander would parse as an argument of the first. */
function refuseUnknown(command: Command): void {
  const [word] = command.args
  if (word === undefined) return
  const names = command.commands.map(one => one.name())
  const meant = nearest(word, names)
  const hint = meant === undefined ? `use ${names.join(', ')}` : `did you mean ${meant}?`
  throw new UsageError(`${command.name()} has no verb ${word}: ${hint}`)
}

const HELP = `
Each command has --json and its own --help. endpoint, workspaces, messages, faults
and clock have subcommands, such as endpoint pause.

Environment:
  ACKHOOK_EMULATOR        the emulator's address, instead of --at
  ACKHOOK_EMULATOR_TOKEN  the emulator's token, for start and every other command

Examples:
  $ ackhook emulator start --to http://localhost:3000/webhooks
  $ ackhook emulator send conversation.resolved
  $ ackhook emulator list --state undelivered --type conversation.resolved
  $ ackhook emulator show evt_123
  $ ackhook emulator replay --all
  $ ackhook emulator endpoint pause
  $ ackhook emulator faults set duplicate=0.1 lostReply=0.05
  $ ackhook emulator wait --type conversation.resolved --state acknowledged --count 3`

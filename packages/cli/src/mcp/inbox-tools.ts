import type { Tool } from '@ackhook/mcp'
import { type Argument, Command, type Option } from 'commander'
import { parseCount } from '../command/shared-options.ts'
import { inboxCommand, withPlace } from '../inbox/inbox-command.ts'
import { openInbox } from '../inbox/open-inbox.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type McpFlags, shownBy } from './mcp-flags.ts'

const READS: readonly string[] = ['list', 'groups', 'show', 'stats']

/** Verbs that change something, with what a person should know before allowing one. */
const WRITES: Readonly<Record<string, Pick<Tool, 'description' | 'changes' | 'runsHandlers'>>> = {
  redrive: {
    description: "Handlers run again, in the app's own processes",
    changes: 'something',
    runsHandlers: true,
  },
  discard: { description: 'Their bodies are deleted, and nothing brings them back', changes: 'for good' },
}

const PLACE = namesOf(withPlace(new Command()).options)
/** Options with which the command line itself runs a verb. */
const OWN: readonly string[] = ['json', 'yes']

/** Creates a tool for each verb of `ackhook inbox` that the flags allow; none if they name no inbox. */
export function inboxTools(flags: McpFlags, terminal: Terminal): readonly Tool[] {
  if (flags.sqlite === undefined && flags.redis === undefined && flags.postgres === undefined) return []
  const verbs = inboxCommand(terminal, () => {}, openInbox).commands
  return verbs.flatMap(verb => {
    const name = verb.name()
    const write = flags.allowWrite ? WRITES[name] : undefined
    if (write === undefined && !READS.includes(name)) return []
    return {
      name: `inbox_${name}`,
      description: write === undefined ? verb.description() : `${verb.description()}. ${write.description}`,
      inputSchema: inputOf(verb),
      changes: write?.changes ?? 'nothing',
      runsHandlers: write?.runsHandlers ?? false,
      run: async (args: Arguments) => shownBy(flags, await runVerb(verb, args, flags, terminal)),
    }
  })
}

type Arguments = Readonly<Record<string, unknown>>

function namesOf(options: readonly Option[]): readonly string[] {
  return options.map(option => option.attributeName())
}

/** Options that a caller of the tool chooses. */
function chosenOf(verb: Command): readonly Option[] {
  return verb.options.filter(option => ![...PLACE, ...OWN].includes(option.attributeName()))
}

function inputOf(verb: Command): Tool['inputSchema'] {
  const ids = verb.registeredArguments
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(ids.map(argument => [argument.name(), schemaOfArgument(argument)])),
      ...Object.fromEntries(chosenOf(verb).map(option => [option.attributeName(), schemaOf(option)])),
    },
    required: ids.filter(({ required }) => required).map(argument => argument.name()),
    additionalProperties: false,
  }
}

function schemaOfArgument({ description, variadic }: Argument): object {
  const text = { type: 'string', minLength: 1 }
  return variadic ? { type: 'array', items: text, description } : { ...text, description }
}

function schemaOf({ description, required, parseArg, argChoices, defaultValue }: Option): object {
  const type = required ? (parseArg === parseCount ? 'integer' : 'string') : 'boolean'
  return {
    type,
    description,
    ...(argChoices !== undefined && { enum: argChoices }),
    ...(defaultValue !== undefined && { default: defaultValue }),
  }
}

/** Runs a verb as the command line does, and resolves with the JSON that it prints. */
async function runVerb(
  verb: Command,
  args: Arguments,
  flags: McpFlags,
  terminal: Terminal,
): Promise<unknown> {
  const printed: string[] = []
  const silent: Terminal = { ...terminal, out: line => void printed.push(line), err: () => {} }
  const command = inboxCommand(silent, () => {}, openInbox)
  for (const one of [command, ...command.commands])
    one.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} })
  await command.parseAsync([verb.name(), ...wordsOf(verb, args, flags)], { from: 'user' })
  return JSON.parse(printed.join(''))
}

/** Writes arguments as words of a command line. No value can pass for an option. */
function wordsOf(verb: Command, args: Arguments, flags: McpFlags): readonly string[] {
  const given = { ...flags, ...args, json: true, yes: true } as Arguments
  const options = verb.options.flatMap(option => {
    const value = given[option.attributeName()]
    if (value === undefined || value === false) return []
    return option.required ? `${option.long}=${value}` : `${option.long}`
  })
  return [...options, '--', ...verb.registeredArguments.flatMap(one => (args[one.name()] ?? []) as string)]
}

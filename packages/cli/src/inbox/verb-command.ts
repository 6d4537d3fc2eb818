import {
  type Call,
  type Caller,
  type FieldView,
  fieldsOf,
  prepare,
  readArgs,
  type Speech,
  say,
  type Verb,
} from '@ackhook/dashboard/verbs'
import { Argument, Command, Option } from 'commander'
import { confirmed } from '../command/confirmed.ts'
import { EXIT } from '../command/exit-codes.ts'
import { collect } from '../command/shared-options.ts'
import type { InboxFlags } from './inbox-flags.ts'
import { printOutcome } from './print-outcome.ts'
import { progressBar } from './progress-bar.ts'
import { flagOf, inFlags } from './speech.ts'
import { type InboxParts, withInbox } from './with-inbox.ts'

type Flags = InboxFlags & { readonly yes?: boolean } & Readonly<Record<string, unknown>>

/** Whoever runs the command has the inbox itself, and waits for the result. */
export const OPERATOR: Caller = {
  bodies: true,
  redact: text => text,
  isPatient: false,
  observe() {},
}

/** Creates the command of a verb, without the flags that name the inbox. `run` resolves with its exit code. */
export function verbCommand(
  verb: Verb,
  act: (run: (parts: InboxParts, speech: Speech) => Promise<number>) => Promise<void>,
): Command {
  const command = new Command(verb.name).description(verb.summary)
  const fields = fieldsOf(verb).filter(({ schema }) => schema.isForPages !== true)
  const ordered = fields.filter(({ schema }) => schema.isArgument === true)
  const named = fields.filter(({ schema }) => schema.isArgument !== true)
  for (const field of ordered) command.addArgument(argumentOf(field))
  const options = named.map(field => ({ name: field.name, option: optionOf(field) }))
  for (const { option } of options) command.addOption(option)
  if (verb.plan !== undefined) command.option('--yes', 'skip the confirmation')
  return command.action(async (...given: unknown[]) => {
    const flags = given[ordered.length] as Flags
    const input = {
      ...Object.fromEntries(ordered.map(({ name }, i) => [name, given[i]])),
      ...Object.fromEntries(
        options.map(({ name, option }) => {
          const value = flags[option.attributeName()]
          return [name, option.negate ? value === false || undefined : value]
        }),
      ),
    }
    await act((parts, speech) => run(verb, input, flags, parts, speech))
  })
}

function argumentOf({ name, isRequired, schema }: FieldView): Argument {
  const sign = schema.type === 'array' ? `${name}...` : name
  return new Argument(isRequired ? `<${sign}>` : `[${sign}]`, schema.description)
}

function optionOf({ name, schema }: FieldView): Option {
  const { type, description, sign = 'value', enum: choices, default: preset } = schema
  const option = new Option(type === 'boolean' ? flagOf(name) : `${flagOf(name)} <${sign}>`, description)
  if (choices !== undefined) option.choices(choices)
  if (type === 'array') option.argParser(collect)
  if (type === 'integer' || type === 'number') option.argParser(Number)
  return preset === undefined ? option : option.default(preset)
}

async function run(
  verb: Verb,
  input: object,
  flags: Flags,
  parts: InboxParts,
  speech: Speech,
): Promise<number> {
  const { terminal } = parts
  const args = await inFlags(speech, () => readArgs(verb, given(input)))
  return withInbox(flags, parts, inbox =>
    inFlags(speech, async () => {
      const bar = progressBar(verb, terminal)
      const call: Call<unknown> = {
        ...{ inbox, args, caller: OPERATOR, signal: terminal.stop },
        progress: progress => bar.show(progress),
      }
      const prepared = await prepare(verb, call)
      const { question } = prepared
      if (question !== undefined && !(await confirmed(say(question, speech), flags, terminal)))
        return EXIT.failed
      const outcome = await prepared.run().finally(() => bar.stop())
      printOutcome(outcome, terminal, { speech, json: flags.json === true })
      return outcome.isDone ? EXIT.ok : EXIT.failed
    }),
  )
}

/** Leaves out what was not given. */
function given(input: object): object {
  const isGiven = (value: unknown) => value !== undefined && !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(Object.entries(input).filter(([, value]) => isGiven(value)))
}

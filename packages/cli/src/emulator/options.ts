import type { Duration } from '@ackhook/core'
import type { DeliverySelection } from '@ackhook/emulator'
import {
  type Field,
  QUERIES,
  SETTINGS,
  type Setting,
  type SettingName,
  type Table,
} from '@ackhook/emulator/routes'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { readData, readDataText } from '../command/read-data.ts'
import { parseCount, parseDuration, parseUrl, withJson } from '../command/shared-options.ts'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Flags of every verb that calls the emulator. */
export interface PlaceFlags {
  readonly at?: string
  readonly json?: boolean
}

/** Flags that select the workspace. */
export interface EndpointFlags extends PlaceFlags {
  readonly workspace?: string
}

/** Flags that select deliveries. */
export interface FilterFlags extends Omit<DeliverySelection, 'to' | 'workspace'>, EndpointFlags {
  readonly until?: string
}

/** Flags that control how long a verb waits for the receiver. */
export interface AwaitFlags extends PlaceFlags {
  /** `false` with --no-wait. */
  readonly wait: boolean
  readonly timeout: Duration
}

/** Flags for event data. */
export interface DataFlags {
  readonly data?: string
  readonly rawData?: string
}

/** Faults by name. The emulator checks the names. */
export type FaultFlags = Readonly<Record<string, string | number | boolean>>

/** Defines an option of a single verb. */
export function option(
  flags: string,
  description: string,
  parse?: (value: string, before: never) => unknown,
  preset?: unknown,
): (command: Command) => Command {
  return command =>
    parse === undefined
      ? command.option(flags, description)
      : command.option(flags, description, parse as (value: string, before: unknown) => unknown, preset)
}

export function withPlace(command: Command): Command {
  return withJson(command.option('--at <url>', 'emulator address (default: http://localhost:4400)', parseUrl))
}

export function withYes(command: Command): Command {
  return command.option('--yes', 'skip the confirmation')
}

export function withWorkspace(command: Command): Command {
  return command.option('--workspace <id>', 'workspace id (default: default)')
}

/** Fields with another name on the command line, where `to` is an address. */
const FLAG_OF: Readonly<Record<string, string>> = { to: 'until' }

/** Adds an option for each field of a query. */
export function withQuery(table: Table): (command: Command) => Command {
  return command => {
    for (const [name, field] of Object.entries(table)) command.addOption(optionFor(name, field))
    return command
  }
}

function optionFor(name: string, { kind, sign, schema }: Field): Option {
  const {
    enum: choices,
    description = oneOf(choices),
    default: preset,
  } = schema as {
    readonly enum?: readonly string[]
    readonly description?: string
    readonly default?: unknown
  }
  const made = new Option(`--${FLAG_OF[name] ?? name} <${sign}>`, inSentence(description))
  if (kind === 'count' && sign === 'n') made.argParser(parseCount)
  if (preset === undefined) return made
  return (choices === undefined ? made : made.choices(choices)).default(preset)
}

/** Returns the values that flags give to the fields of a query. */
export function queryOf(table: Table, flags: object): Readonly<Record<string, unknown>> {
  const given = new Map(Object.entries(flags))
  const values = Object.keys(table).map(name => [name, given.get(FLAG_OF[name] ?? name)] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

/** Defines an option that changes a setting of the emulator. */
export function settingOption(
  name: SettingName,
  flags: string,
  parse: (value: string) => unknown,
): (command: Command) => Command {
  const { meaning, preset }: Setting = SETTINGS[name]
  return option(
    flags,
    inSentence(meaning) + (preset === undefined ? '' : ` (default: ${preset}, a guess)`),
    parse,
  )
}

function inSentence(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

function oneOf(choices: readonly string[] = []): string {
  return `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`
}

/** Collects the values of a repeatable option. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** Parses `duplicate`, `lostReply=0.1` or `delay=2s`. */
export function collectFault(text: string, before: FaultFlags = {}): FaultFlags {
  const [, name, value] = /^(\w+)(?:=(.+))?$/.exec(text) ?? []
  if (name === undefined)
    throw new InvalidArgumentError('Use a name, or a name with a chance, such as lostReply=0.1.')
  const number = Number(value)
  if (value === undefined || value === 'true') return { ...before, [name]: true }
  if (value === 'false') return { ...before, [name]: false }
  return { ...before, [name]: Number.isNaN(number) ? value : number }
}

/** Parses `--seed`. */
export function parseSeed(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 0) return value
  throw new InvalidArgumentError('Use a whole number of at least 0.')
}

export function withAwait(command: Command): Command {
  return command
    .option('--no-wait', 'do not wait for the receiver')
    .option(
      '--timeout <duration>',
      'wait at most this long for the next reply',
      parseDuration,
      '10s' as Duration,
    )
}

/** Returns the filter given by the flags; empty if there is none. The emulator checks its values. */
export function filterOf(flags: FilterFlags): DeliverySelection {
  return queryOf(QUERIES.Selection, flags) as DeliverySelection
}

/** Returns event data for the API: data to merge over sample data, or raw data to send unchanged. */
export async function dataOf({ data, rawData }: DataFlags, terminal: Terminal): Promise<object> {
  if (data !== undefined && rawData !== undefined) {
    throw new UsageError(
      'give either --data, which is merged over sample data, or --raw-data, which is sent unchanged',
    )
  }
  if (rawData !== undefined) return { rawData: await readDataText(rawData, terminal, '--raw-data') }
  if (data === undefined) return {}
  return { data: await readData(data, terminal, '--data', '; --raw-data keeps it as written') }
}

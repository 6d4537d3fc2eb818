import { type Command, InvalidArgumentError } from 'commander'
import { parseCount, parseUrl, withJson, withOrder } from '../command/shared-options.ts'

/** Flags of every verb that calls the emulator. */
export interface PlaceFlags {
  readonly at?: string
  readonly json?: boolean
}

/** Flags that select the workspace. */
export interface EndpointFlags extends PlaceFlags {
  readonly workspace?: string
}

/** Faults by name. The emulator checks the names. */
export type FaultFlags = Readonly<Record<string, string | number | boolean>>

export function withPlace(command: Command): Command {
  return withJson(command.option('--at <url>', 'emulator address (default: http://localhost:4400)', parseUrl))
}

export function withYes(command: Command): Command {
  return command.option('--yes', 'skip the confirmation')
}

export function withWorkspace(command: Command): Command {
  return command.option('--workspace <id>', 'workspace id (default: default)')
}

export function withPage(command: Command): Command {
  return withOrder(command.option('--limit <n>', 'at most this many, up to 200', parseCount, 50)).option(
    '--after <cursor>',
    'continue after the page that ended with this cursor',
  )
}

export function withState(command: Command): Command {
  return command
    .option('--state <state>', 'pending, acknowledged, undelivered, replayed, discarded or skipped')
    .option('--status <n>', 'status of the last reply', parseCount)
}

/** Options that select deliveries, except by state. */
export function withFilter(command: Command): Command {
  return command
    .option('--type <type>', 'event type, or a pattern such as order.*')
    .option('--category <name>', 'event category, such as message')
    .option('--kind <kind>', 'event, duplicate or replay')
    .option('--event <id>', 'event id')
    .option('--message <id>', 'id of the message in the event')
    .option('--text <text>', 'part of the event, three characters or more')
    .option('--from <time>', 'created then or later: 24h (ago), yesterday or ISO 8601')
    .option('--until <time>', 'created before that time')
    .option('--workspace <id>', 'workspace')
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

import { type Command, InvalidArgumentError } from 'commander'
import { parseCount, parseUrl, withJson, withOrder } from '../../command/shared-options.ts'

/** Faults by their names. The emulator knows which there are. */
export type FaultFlags = Readonly<Record<string, string | number | boolean>>

export function withPlace(command: Command): Command {
  return withJson(
    command.option('--at <url>', 'address of the emulator (default: http://localhost:4400)', parseUrl),
  )
}

export function withYes(command: Command): Command {
  return command.option('--yes', 'do not ask')
}

export function withWorkspace(command: Command): Command {
  return command.option('--workspace <id>', 'another workspace than default')
}

export function withPage(command: Command): Command {
  return withOrder(command.option('--limit <n>', 'at most this many, up to 200', parseCount, 50)).option(
    '--after <cursor>',
    'go on after an earlier list',
  )
}

/** An option that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** `duplicate`, `lostReply=0.1` or `delay=2s`. */
export function collectFault(text: string, before: FaultFlags = {}): FaultFlags {
  const [, name, value] = /^(\w+)(?:=(.+))?$/.exec(text) ?? []
  if (name === undefined)
    throw new InvalidArgumentError('Write a name, or a name and a chance: lostReply=0.1.')
  const number = Number(value)
  if (value === undefined || value === 'true') return { ...before, [name]: true }
  if (value === 'false') return { ...before, [name]: false }
  return { ...before, [name]: Number.isNaN(number) ? value : number }
}

/** Of `--seed`. */
export function parseSeed(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 0) return value
  throw new InvalidArgumentError('Write a whole number from 0.')
}

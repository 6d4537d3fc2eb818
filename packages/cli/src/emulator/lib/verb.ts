import type { Command } from 'commander'
import type { Terminal } from '../../terminal/terminal.ts'

/** A verb of `ackhook emulator`, from which the program and its help are made. */
export interface Verb<Flags> {
  /** Words after `ackhook emulator`. A first word of two, such as `endpoint`, is also a verb of its own. */
  readonly name: string
  readonly description: string
  /** Arguments in Commander's notation, `<id>` or `[ids...]`, with their meaning. */
  readonly args?: readonly (readonly [name: string, meaning: string])[]
  readonly options?: readonly ((command: Command) => Command)[]
  /** Help text below the options. */
  readonly help?: string
  /** Resolves with the exit code. */
  readonly run: (args: readonly string[], flags: Flags, terminal: Terminal) => Promise<number>
}

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

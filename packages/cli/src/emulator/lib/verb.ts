import type { Command } from 'commander'
import type { Terminal } from '../../terminal/terminal.ts'

/** One verb of `ackhook emulator`, as the program, its help and its documentation have it. */
export interface Verb<Flags> {
  /** The words after `ackhook emulator`. A second word follows the verb that shows the same thing. */
  readonly name: string
  readonly description: string
  /** Arguments as Commander writes them, `<id>` or `[ids...]`, with their meaning. */
  readonly args?: readonly (readonly [name: string, meaning: string])[]
  readonly options?: readonly ((command: Command) => Command)[]
  /** Further help, below the options. */
  readonly help?: string
  /** Answers the exit code. */
  readonly run: (args: readonly string[], flags: Flags, terminal: Terminal) => Promise<number>
}

/** An option of one verb alone. */
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

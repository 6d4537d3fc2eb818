import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command, Option } from 'commander'
import { EXIT } from '../command/exit-codes.ts'
import type { Finish } from '../command/finish.ts'
import { loadFromProject } from '../command/load-from-project.ts'
import { parsePath } from '../command/shared-options.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type Recording, readRecorded } from './load-contract.ts'

type TypesOf = (recordings: readonly Recording[], options: { readonly as: string }) => string

interface TypesFlags {
  readonly as: string
  readonly out?: string
}

export function typesCommand(terminal: Terminal, finish: Finish): Command {
  return new Command('types')
    .description('Write TypeScript for the data of recorded deliveries')
    .argument('<path>', 'a folder of recorded deliveries, or one of them')
    .addOption(
      new Option('--as <what>', 'declarations for EventMap, or schemas')
        .choices(['types', 'zod', 'valibot'])
        .default('types'),
    )
    .option('--out <file>', 'write to this file instead of standard output', parsePath)
    .addHelpText('after', HELP)
    .action(async (path: string, { as, out }: TypesFlags) => {
      const { cwd } = terminal
      const recordings = await readRecorded(path, cwd)
      const typesOf = await loadFromProject<TypesOf>('@ackhook/contract', 'typesOf', cwd)
      const text = typesOf(recordings, { as })
      if (out === undefined) terminal.out(text.trimEnd())
      else writeFileSync(resolve(cwd, out), text)
      finish(EXIT.ok)
    })
}

const HELP = `
Recorded deliveries are written by recordDeliveries of @ackhook/contract, or by ackhook listen --save. The same
recordings give the same text. Needs @ackhook/contract in your project.

Examples:
  $ ackhook types recorded --out src/events.ts
  $ ackhook types recorded --as zod`

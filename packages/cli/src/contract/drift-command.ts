import { printable } from '@ackhook/core/spi'
import { Command } from 'commander'
import { EXIT } from '../command/exit-codes.ts'
import type { Finish } from '../command/finish.ts'
import { loadFromProject } from '../command/load-from-project.ts'
import { withJson } from '../command/shared-options.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint, wrap } from '../terminal/text.ts'
import { type Recording, readKnown, readRecorded } from './load-contract.ts'

interface Finding {
  readonly kind: string
  readonly type?: string
  readonly isBreaking: boolean
  readonly text: string
  readonly values?: readonly string[]
  readonly fix: string
}

type DriftOf = (known: object, observed: readonly Recording[]) => readonly Finding[]

interface DriftFlags {
  readonly breaking?: boolean
  readonly json?: boolean
}

export function driftCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('drift')
    .description('Tell how recorded deliveries differ from what is known, and which option absorbs it')
    .argument('<known>', 'a folder of recorded deliveries, or a module that exports events: your schemas')
    .argument('<recorded>', 'a folder of recorded deliveries, or one of them')
    .option('--breaking', 'only differences that may break a handler or a schema')
    .addHelpText('after', HELP)
    .action(async (known: string, recorded: string, flags: DriftFlags) =>
      finish(await drift({ known, recorded }, flags, terminal)),
    )
  return withJson(command)
}

const HELP = `
Exit code 0 if there is no difference, 1 if there is one, 2 if something cannot be read.
Needs @ackhook/contract in your project.

Examples:
  $ ackhook drift known recorded
  $ ackhook drift src/events.js recorded --breaking`

async function drift(
  { known, recorded }: { readonly known: string; readonly recorded: string },
  { breaking, json }: DriftFlags,
  terminal: Terminal,
): Promise<number> {
  const { cwd } = terminal
  const observed = await readRecorded(recorded, cwd)
  const driftOf = await loadFromProject<DriftOf>('@ackhook/contract', 'driftOf', cwd)
  const all = driftOf(await readKnown(known, cwd), observed)
  const findings = all.filter(one => !breaking || one.isBreaking)
  if (json) terminal.out(JSON.stringify({ recordings: observed.length, findings }))
  else describe(findings, observed.length, terminal)
  return findings.length === 0 ? EXIT.ok : EXIT.failed
}

function describe(
  findings: readonly Finding[],
  recordings: number,
  { out, colors, columns }: Terminal,
): void {
  const paint = createPaint(colors)
  for (const { type, isBreaking, text, values = [], fix } of findings) {
    const about = type ? `${paint.bold(printable(type))}  ` : ''
    const which = values.length === 0 ? '' : `: ${values.join(', ')}`
    out(`${isBreaking ? paint.bad('✗') : paint.warn('+')} ${about}${printable(`${text}${which}`)}`)
    out(wrap(paint.dim(printable(fix)), '  ', columns))
  }
  const count = `${recordings} recorded ${recordings === 1 ? 'delivery' : 'deliveries'}`
  if (findings.length === 0) out(`${paint.good('✓')} no difference in ${count}`)
  else out(`${findings.length} ${findings.length === 1 ? 'difference' : 'differences'} in ${count}`)
}

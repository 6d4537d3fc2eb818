import { printable } from '@ackhook/core/spi'
import type { EmulatorHealth, SettingsView } from '@ackhook/emulator'
import { FAULTS, PRESETS } from '@ackhook/emulator/routes'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint, table } from '../terminal/text.ts'
import { clockAhead } from './client.ts'
import { collectFault, type FaultFlags, option } from './options.ts'
import { type CallFlags, callVerb, type Typed, type Verb } from './verb.ts'

interface Clock {
  readonly now: string
}

interface ResetFlags extends CallFlags {
  readonly everything?: boolean
}

interface FaultsFlags extends CallFlags {
  readonly preset?: string
}

const FAULTS_HELP = `Faults:
${described(Object.entries(FAULTS).map(([name, { schema }]) => [name, String(schema['description'] ?? '')]))}

Presets, to which further faults can be added:
${described(Object.entries(PRESETS).map(([name, { meaning }]) => [name, meaning]))}

Examples:
  $ ackhook emulator faults set duplicate=0.1 lostReply
  $ ackhook emulator faults set answer=503 answerChance=0.5
  $ ackhook emulator faults set answer=timeout answerNext=3
  $ ackhook emulator faults set --preset flaky`

/** Verbs of `ackhook emulator` for a running emulator. */
export const SERVER_VERBS: readonly Verb<never>[] = [
  callVerb<EmulatorHealth>({
    name: 'health',
    route: 'GET /health',
    description: 'Count deliveries by state; exit code 1 if something needs attention',
    lines: (health, { terminal }) => healthLines(health, terminal),
    isGood: ({ warnings }) => warnings.length === 0,
  }),
  callVerb<SettingsView>({
    name: 'settings',
    route: 'GET /settings',
    description: 'List every setting and limit, and mark unpublished ones',
    lines: (settings, { terminal }) => settingsLines(settings, terminal),
  }),
  callVerb<FaultFlags>({
    name: 'faults',
    route: 'GET /faults',
    description: 'Show the faults in force',
    lines: faultLines,
  }),
  callVerb<FaultFlags, FaultsFlags>({
    name: 'faults set',
    route: 'PUT /faults',
    description: 'Replace all faults with these, from the next attempt on',
    args: [['[name=chance...]', 'such as duplicate=0.1, lostReply or delay=2s']],
    options: [option('--preset <name>', `faults that belong together: ${Object.keys(PRESETS).join(', ')}`)],
    help: FAULTS_HELP,
    body: faultsIn,
    lines: faultLines,
  }),
  callVerb<FaultFlags>({
    name: 'faults clear',
    route: 'PUT /faults',
    description: 'Remove all faults',
    lines: faultLines,
  }),
  callVerb<Clock>({
    name: 'clock',
    route: 'GET /clock',
    description: "Show the emulator's time",
    lines: ({ now }) => [now],
  }),
  callVerb<Clock>({
    name: 'clock advance',
    route: 'POST /clock/advance',
    description: 'Move the clock forward, and make the attempts that fall due',
    args: [['<duration>', 'such as 30s, 5m or 1h']],
    help: 'A receiver with its own clock refuses timestamps from the future: see retry.',
    body: ({ args }) => ({ by: args[0] }),
    lines: ({ now }) => [now],
    note: ({ now }) => clockAhead(now),
  }),
  callVerb<undefined, ResetFlags>({
    name: 'reset',
    route: 'POST /reset',
    description: 'Empty the log, and reset the clock and the faults',
    options: [option('--everything', 'remove workspaces and endpoints too, except the one from start --to')],
    help: 'Asks for no confirmation, so that tests can call it between cases.',
    body: ({ flags }) => ({ everything: flags.everything === true }),
    lines: (_, { flags }) => [flags.everything ? 'Everything is reset.' : 'The log is empty.'],
    json: ({ flags }) => ({ reset: true, everything: flags.everything === true }),
  }),
]

function described(rows: readonly (readonly string[])[]): string {
  return table(rows.filter(([, meaning]) => meaning !== ''))
    .map(line => `  ${line}`)
    .join('\n')
}

/** Returns the named faults, beside those of a preset. */
function faultsIn({ args, flags: { preset } }: Typed<FaultsFlags>): FaultFlags {
  if (args.length === 0 && preset === undefined)
    throw new UsageError('name faults, such as duplicate=0.1, or a --preset; faults clear removes all')
  return args.reduce((before, text) => collectFault(text, before), preset === undefined ? {} : { preset })
}

/** Formats the number of deliveries in each state, and warnings. */
function healthLines({ counts, warnings }: EmulatorHealth, { colors }: Terminal): readonly string[] {
  const { good, warn } = createPaint(colors)
  return [
    ...table(Object.entries(counts).map(([state, count]) => [state, String(count)])),
    '',
    ...(warnings.length === 0
      ? [`${good('✓')} nothing needs attention`]
      : warnings.map(text => warn(`! ${printable(text)}`))),
  ]
}

/** Formats every setting: published ones first, then the guesses. */
function settingsLines(
  { settings, categories }: SettingsView,
  { colors, columns }: Terminal,
): readonly string[] {
  const { bold, warn } = createPaint(colors)
  const rows = (published: boolean | null) =>
    table(
      settings
        .filter(one => one.published === published)
        .map(({ name, text, meaning }) => [`  ${name}`, text, meaning]),
      columns,
    )
  return [
    bold('Published'),
    ...rows(true),
    '',
    `${bold('Not published')}${warn(': a guess')}`,
    ...rows(false),
    '',
    bold('Of the emulator itself'),
    ...rows(null),
    '',
    `Categories: ${categories.join(', ')}`,
  ]
}

/** Formats the faults in force. */
function faultLines(faults: FaultFlags): readonly string[] {
  const rows = Object.entries(faults).map(([name, value]) => [
    name,
    value === true ? 'always' : String(value),
  ])
  if (rows.length > 0) return table(rows)
  return ['No faults are set. To set one, for example:', '  npx ackhook emulator faults set duplicate=0.1']
}

import type { SettingsView, SettingView } from '@ackhook/emulator'
import { EXIT } from '../../command/exit-codes.ts'
import { createPaint } from '../../terminal/paint.ts'
import { table } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { PlaceFlags } from '../lib/emulator-flags.ts'
import { report } from '../lib/report.ts'
import { withEmulator } from '../lib/with-emulator.ts'

/** Prints every setting: what is published first, then the guesses. */
export function settings(_: readonly string[], flags: PlaceFlags, terminal: Terminal): Promise<number> {
  const { bold, warn } = createPaint(terminal.colours)
  return withEmulator(flags, terminal, async emulator => {
    const view = await emulator.get<SettingsView>('/settings')
    const rows = (published: boolean) =>
      table(view.settings.filter(one => one.published === published).map(row), terminal.columns)
    const lines = [
      bold('Published'),
      ...rows(true),
      '',
      `${bold('Not published')}${warn(': a guess, or a limit of the emulator itself')}`,
      ...rows(false),
      '',
      `Categories: ${view.categories.join(', ')}`,
    ]
    report(view, lines, flags, terminal)
    return EXIT.ok
  })
}

function row({ name, value, meaning }: SettingView): readonly string[] {
  return [`  ${name}`, String(value), meaning]
}

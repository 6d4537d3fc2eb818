import type { SettingsView } from '@ackhook/emulator'
import { createPaint } from '../../terminal/paint.ts'
import { table } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

/** Formats every setting: published ones first, then the guesses. */
export function settingsLines(
  { settings, categories }: SettingsView,
  { colors, columns }: Terminal,
): readonly string[] {
  const { bold, warn } = createPaint(colors)
  const rows = (published: boolean) =>
    table(
      settings
        .filter(one => one.published === published)
        .map(({ name, value, meaning }) => [`  ${name}`, String(value), meaning]),
      columns,
    )
  return [
    bold('Published'),
    ...rows(true),
    '',
    `${bold('Not published')}${warn(': a guess, or a limit of the emulator itself')}`,
    ...rows(false),
    '',
    `Categories: ${categories.join(', ')}`,
  ]
}

import { printable } from '@ackhook/core/spi'
import type { Terminal } from './terminal.ts'

/** Longest line for a person, who reads no more. Programs get whole lines. */
const LONGEST_LINE = 20_000
/** Colors of a `Paint`, which are the only control sequences that a command writes; and the indentation of code. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with one
const OWN = /(\t|\u001b\[(?:1|2|22|31|32|33|39)m)/

/**
 * Guards a terminal: whatever a command prints, an error included, no text of foreign origin controls it. This is the one
 * rule for all output, behind which a command that forgets `printable` cannot do harm. `isJson`: lines are never cut.
 */
export function guarded(terminal: Terminal, { isJson }: { readonly isJson: boolean }): Terminal {
  const { colors, columns, env, cwd, stop } = terminal
  const isRead = columns !== undefined
  const cut = isRead && !isJson
  const safe = (text: string) =>
    text
      .split('\n')
      .map(line => safeLine(cut ? shortened(line) : line, colors))
      .join('\n')
  return {
    out: (text, form) => terminal.out(form === 'exact' && !isRead ? text : safe(text)),
    err: text => terminal.err(safe(text)),
    colors,
    columns,
    env,
    cwd,
    stop,
    input: () => terminal.input(),
    askSecret: question => terminal.askSecret(safe(question)),
    confirm: question => terminal.confirm(safe(question)),
    progress: (total, label) => terminal.progress(total, safe(label)),
  }
}

function safeLine(line: string, colors: boolean): string {
  if (printable(line) === line) return line
  // At odd places is what the expression has captured.
  return line
    .split(OWN)
    .map((part, i) => (i % 2 === 1 && (colors || part === '\t') ? part : printable(part)))
    .join('')
}

function shortened(line: string): string {
  if (line.length <= LONGEST_LINE) return line
  return `${line.slice(0, LONGEST_LINE)}… (${line.length - LONGEST_LINE} more characters)`
}

import type { Terminal } from '../../terminal/terminal.ts'

/** Prints a result, as one line of JSON or as lines of text. */
export function report(
  value: unknown,
  lines: readonly string[],
  { json }: { readonly json?: boolean },
  { out }: Terminal,
): void {
  if (json) out(JSON.stringify(value))
  else for (const line of lines) out(line)
}

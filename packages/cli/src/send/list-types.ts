import { createPaint } from '../terminal/paint.ts'
import { table } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { EVENT_TYPES } from './event-types.ts'

/** Prints every published or planned event type with example data. */
export function listTypes({ json }: { readonly json?: boolean }, { out, colors }: Terminal): void {
  if (json) {
    out(JSON.stringify({ types: EVENT_TYPES }))
    return
  }
  const { bold, dim, warn } = createPaint(colors)
  const rows = (published: boolean) =>
    table(
      EVENT_TYPES.filter(one => one.published === published).map(({ type, meaning, data }) => [
        `  ${type}`,
        meaning,
        dim(JSON.stringify(data)),
      ]),
    )
  out(bold('Published'))
  for (const line of rows(true)) out(line)
  out('')
  out(`${bold('Planned')}${warn(': names and data are guesses, and may change')}`)
  for (const line of rows(false)) out(line)
  out('')
  out(`npx ackhook send conversation.resolved --to <url>, or a planned type with its data:`)
  out(`npx ackhook send call.missed --to <url> --data '{"call_id":"cal_1"}'`)
}

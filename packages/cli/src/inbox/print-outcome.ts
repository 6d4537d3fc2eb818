import { printable } from '@ackhook/core/spi'
import { type Block, type Outcome, type Speech, say, type Tone, type Words } from '@ackhook/dashboard/verbs'
import stringWidth from 'fast-string-width'
import { parseTree, writeTree } from '../delivery/json-tree.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint, shorten, table } from '../terminal/text.ts'

/** Longest line of a fact that may be cut, outside a terminal. */
const LONGEST = 1024

/** Prints the result of a verb: its blocks, or with `json` what programs get. */
export function printOutcome(
  { data, blocks }: Outcome,
  terminal: Terminal,
  { speech, json }: { readonly speech: Speech; readonly json: boolean },
): void {
  if (json) {
    terminal.out(JSON.stringify(data))
    return
  }
  const said = (words: Words) => printable(say(words, speech))
  for (const block of blocks)
    if (block.kind === 'note') terminal.err(said(block.words))
    else for (const line of linesOf(block, terminal, said)) terminal.out(line)
}

type Said = (words: Words) => string

function linesOf(
  block: Exclude<Block, { kind: 'note' }>,
  { columns, colors }: Terminal,
  said: Said,
): readonly string[] {
  switch (block.kind) {
    case 'line':
      return [toned(said(block.words), block.tone, colors)]
    case 'list':
      return block.items.map(item => `  ${said(item)}`)
    case 'facts':
      return factLines(block, { columns, colors }, said)
    case 'table':
      return tableLines(block, columns, said)
    case 'body':
      return [pretty(block.text)]
  }
}

function toned(text: string, tone: Tone | undefined, colors: boolean): string {
  const { good, bad, warn, dim } = createPaint(colors)
  return tone === undefined ? text : { good, bad, wait: warn, idle: dim }[tone](text)
}

function factLines(
  { facts }: Extract<Block, { kind: 'facts' }>,
  { columns = LONGEST, colors }: Pick<Terminal, 'columns' | 'colors'>,
  said: Said,
): readonly string[] {
  const before = Math.max(...facts.map(({ label }) => (label === '' ? 0 : label.length + 2)))
  const rows = facts.map(({ label, words, isLong }) => [
    label,
    isLong === true ? shorten(said(words), columns - before) : said(words),
  ])
  return table(rows).map((line, i) => toned(line, facts[i]?.tone, colors))
}

/** Prints rows in full into a pipe or file, and shortened to the width of a terminal. */
function tableLines(
  { columns: heads, rows }: Extract<Block, { kind: 'table' }>,
  columns: number | undefined,
  said: Said,
): readonly string[] {
  const titles = heads.map(({ title }) => title)
  const cells = rows.map(row => row.map(said))
  const whole = table([titles, ...cells])
  if (columns === undefined || whole.every(line => stringWidth(line) <= columns)) return whole
  const fitted = cells.map(row =>
    row.map((cell, i) => {
      const { most = Number.POSITIVE_INFINITY, isLong } = heads[i] ?? {}
      // A long cell moves to an indented line below its row.
      return shorten(cell, isLong === true ? Math.max(8, columns - 4) : Math.min(most, columns))
    }),
  )
  return table([titles, ...fitted], columns)
}

/** Indents JSON, and keeps each digit. The body is untrusted, so control characters other than line ends are escaped. */
function pretty(body: string): string {
  let text = body
  try {
    text = writeTree(parseTree(body), { comma: ',', colon: ': ', indent: '  ' })
  } catch {
    // A body that is not JSON is shown unchanged.
  }
  return text.split('\n').map(printable).join('\n')
}

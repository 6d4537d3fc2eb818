import type { Facts } from '../evidence/facts.ts'
import type { Guess } from '../evidence/finding.ts'

const BOM = '\ufeff'
const ADVICE =
  'Give the receiver the bytes as they arrived, and look for an editor, a proxy or a template that reformats text.'

/** Assumes that white space, line ends or a byte order mark were added or removed in transit. */
export function bodyWhiteSpace({ text }: Facts): readonly Guess[] {
  const unix = text.replaceAll('\r\n', '\n')
  const supposed: [string, string, string][] = [
    ['body-end', text.trimEnd(), 'A line break or a space was added to the end of the body'],
    ['body-end', `${text}\n`, 'The line break at the end of the body was removed'],
    ['body-end', `${text}\r\n`, 'The line break at the end of the body was removed'],
    ['body-line-ends', unix, "The body's line endings were changed from Unix (LF) to Windows (CRLF)"],
    [
      'body-line-ends',
      unix.replaceAll('\n', '\r\n'),
      "The body's line endings were changed from Windows (CRLF) to Unix (LF)",
    ],
    [
      'body-bom',
      BOM + text,
      'The byte order mark at the start of the body was removed, as decoding to a string does',
    ],
  ]
  if (text.startsWith(BOM)) {
    supposed.push(['body-bom', text.slice(1), 'A byte order mark was added before the body'])
  }
  // Last, because trim() treats a byte order mark as white space.
  supposed.push(['body-white-space', text.trim(), 'White space was added around the body'])
  return supposed.map(([cause, signed, what]) => ({
    cause,
    body: new TextEncoder().encode(signed),
    text: `${what}, after it was signed. ${ADVICE}`,
  }))
}

import type { Facts } from '../evidence/facts.ts'
import type { Guess } from '../evidence/finding.ts'

/** Assumes that the text signed before the body is not `<t>.` with the header's `t`. */
export function timestampSigned({ signature, timestampMs }: Facts): readonly Guess[] {
  if (signature === undefined) return []
  const t = signature.timestamp
  const units =
    timestampMs === undefined
      ? []
      : [
          [String(Math.floor(timestampMs / 1000)), 'seconds'],
          [String(timestampMs), 'milliseconds'],
          [new Date(timestampMs).toISOString(), 'ISO 8601'],
        ].filter(([text]) => text !== t)
  return [
    ...units.map(([text, unit]) => ({
      cause: 'timestamp-unit-signed',
      prefix: `${text}.`,
      text: `The sender signed the time in ${unit} and wrote it into the header in another unit. The text of t in the header must be the text that was signed.`,
    })),
    {
      cause: 'timestamp-not-signed',
      prefix: '',
      text: 'The sender signed the body without the timestamp. It must sign the text of t, a dot, and the body: <t>.<body>.',
    },
    {
      cause: 'timestamp-separator',
      prefix: t,
      text: 'The sender signed the timestamp and the body without the dot between them. It must sign <t>.<body>.',
    },
    {
      cause: 'timestamp-separator',
      prefix: `${t}:`,
      text: 'The sender put a colon between the timestamp and the body. It must sign <t>.<body>, with a dot.',
    },
  ]
}

import type { Facts } from '../evidence/facts.ts'
import type { Guess } from '../evidence/finding.ts'

const ENDINGS: readonly [text: string, name: string][] = [
  ['\n', 'a newline'],
  ['\r\n', 'a Windows line ending'],
  [' ', 'a space'],
  ['\t', 'a tab'],
  ['\\n', 'the two characters \\n'],
]

/** Assumes white space that only one side has. */
export function secretWhiteSpace({ secret, others }: Facts): readonly Guess[] {
  return [secret, ...others].flatMap(({ value, source }) => [
    ...ENDINGS.filter(([ending]) => value.endsWith(ending)).map(([ending, name]) => ({
      cause: 'secret-trailing-white-space',
      key: value.slice(0, -ending.length),
      text: `The secret from ${source} ends with ${name}, and the real one does not. That happens when a secret is read from a file. Remove it: secret: process.env.SIGNING_SECRET.trim(), or write the file with printf instead of echo.`,
    })),
    {
      cause: 'secret-white-space',
      key: value.trim(),
      text: `The secret from ${source} has white space around it, and the real one does not. Trim it where your app reads it.`,
    },
    ...ENDINGS.map(([ending, name]) => ({
      cause: 'secret-white-space-at-sender',
      key: value + ending,
      text: `The sender signed with ${name} after the secret from ${source}. Remove it where the sender's secret is stored; if you cannot change the sender, your secret must end the same way.`,
    })),
  ])
}

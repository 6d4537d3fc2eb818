import type { Facts } from '../evidence/facts.ts'
import type { Guess } from '../evidence/finding.ts'

/** Assumes quotes or a name copied from a configuration file. */
export function secretQuoted({ secret, others }: Facts): readonly Guess[] {
  return [secret, ...others].flatMap(({ value, source }) => {
    const assigned = /^\s*(?:export\s+)?[A-Za-z_]\w*\s*=\s*["']?(.+?)["']?\s*$/.exec(value)
    const quoted = /^\s*(["'`])(.*)\1\s*$/s.exec(value)
    const halfQuoted = value.replace(/^["'`]|["'`,;]+$/g, '')
    return [
      ...(assigned === null
        ? []
        : [
            {
              cause: 'secret-with-name',
              key: assigned[1] as string,
              text: `The secret from ${source} is a whole line, NAME=value. Keep only the part after the equals sign.`,
            },
          ]),
      ...[quoted?.[2], halfQuoted]
        .filter(key => key !== undefined)
        .map(key => ({
          cause: 'secret-quoted',
          key,
          text: `The secret from ${source} includes quotes that are not part of it. Some tools, such as docker --env-file, keep quotes: write the value without them.`,
        })),
      ...['"', "'"].map(quote => ({
        cause: 'secret-quoted-at-sender',
        key: quote + value + quote,
        text: `The sender signed with quotes around the secret from ${source}. Remove them where the sender's secret is stored.`,
      })),
    ]
  })
}

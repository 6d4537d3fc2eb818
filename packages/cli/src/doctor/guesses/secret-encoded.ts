import { Buffer } from 'node:buffer'
import type { Facts } from '../evidence/facts.ts'
import type { Guess } from '../evidence/finding.ts'

/** Assumes the same secret in another form: hexadecimal, base64, with or without its prefix. */
export function secretEncoded({ secret, others }: Facts): readonly Guess[] {
  return [secret, ...others].flatMap(({ value, source }) => {
    const bare = value.replace(/^[a-z]+_/, '')
    const guesses: Guess[] = []
    const decoded = (key: Uint8Array, form: string): void => {
      guesses.push({
        cause: `secret-${form === 'hexadecimal' ? 'hex' : 'base64'}`,
        key,
        text: `The sender signed with the bytes that the secret from ${source} encodes in ${form}, but a receiver uses the secret as text. Use the secret exactly as the platform shows it; if it shows this text, the sender must not decode it.`,
      })
    }
    for (const text of new Set([value, bare])) {
      if (/^(?:[0-9a-f]{2})+$/i.test(text)) decoded(Buffer.from(text, 'hex'), 'hexadecimal')
      if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) decoded(Buffer.from(text, 'base64'), 'base64')
    }
    for (const [form, encoding] of [
      ['hexadecimal', 'hex'],
      ['base64', 'base64'],
      ['base64', 'base64url'],
    ] as const) {
      guesses.push({
        cause: `secret-${encoding === 'hex' ? 'hex' : 'base64'}`,
        key: Buffer.from(value).toString(encoding),
        text: `The sender signed with the ${form} form of the secret from ${source}. Copy the secret exactly as the platform shows it, without decoding it.`,
      })
    }
    if (bare !== value) {
      guesses.push({
        cause: 'secret-prefix',
        key: bare,
        text: `The sender signed without the prefix of the secret from ${source}. Use the whole secret on both sides, or omit its prefix on both.`,
      })
    }
    return guesses
  })
}

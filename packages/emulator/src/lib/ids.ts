import { randomBytes } from 'node:crypto'

const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 20

/** A prefix and 100 random bits. Never from the seed: a receiver remembers the ids of earlier runs. */
export function newId(prefix: string): string {
  let name = prefix
  for (const byte of randomBytes(LENGTH)) name += LETTERS[byte & 31]
  return name
}

/** A signing secret. */
export function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64url')}`
}

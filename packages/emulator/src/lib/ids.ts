import { randomBytes } from 'node:crypto'

const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 20

/** Returns the prefix with 100 random bits, never seeded: receivers remember ids of earlier runs. */
export function newId(prefix: string): string {
  let name = prefix
  for (const byte of randomBytes(LENGTH)) name += LETTERS[byte & 31]
  return name
}

/** Generates a signing secret. */
export function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64url')}`
}

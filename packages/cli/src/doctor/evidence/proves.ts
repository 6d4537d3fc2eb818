import { createHmac } from 'node:crypto'
import type { Facts } from './facts.ts'
import type { Guess } from './finding.ts'

/** Returns whether any signature in the header matches the digest under these assumptions. */
export function proves(facts: Facts, ...guesses: readonly Partial<Guess>[]): boolean {
  const { signature, secret, delivery } = facts
  if (signature === undefined) return false
  const supposed = Object.assign({}, ...guesses) as Partial<Guess>
  const digest = createHmac('sha256', supposed.key ?? secret.value)
    .update(supposed.prefix ?? `${signature.timestamp}.`)
    .update(supposed.body ?? delivery.body)
    .digest('hex')
  return signature.signatures.some(one => one.toLowerCase() === digest)
}

import { RATE_RULE, readRate } from '@ackhook/dashboard/verbs'
import { InvalidArgumentError } from 'commander'

/** Parses a rate into events per second: `50`, `0.5`, `10/s`, `600/m` or `1000/h`. */
export function parseRate(text: string): number {
  const rate = readRate(text)
  if (rate !== undefined) return rate
  throw new InvalidArgumentError(`It ${RATE_RULE}.`)
}

import { parseSignatureHeader, Refusal } from '@ackhook/core/spi'
import type { Facts } from '../evidence/facts.ts'
import type { Finding } from '../evidence/finding.ts'
import { proves } from '../evidence/proves.ts'

/** Finds repeated headers, including those that a server joined into one value with two `t`. */
export function headerTwice(facts: Facts): Finding | undefined {
  const { headerName, headerLines, code } = facts
  if (code !== 'signature_malformed') return undefined
  const values = headerLines.flatMap(splitJoined)
  if (values.length < 2) return undefined
  const same = new Set(values.map(value => value.trim())).size === 1
  const right = values.findIndex(value => verifies(value, facts))
  const which =
    right === -1
      ? 'none of them matches this secret'
      : same
        ? 'both are the same valid signature'
        : `no. ${right + 1} is valid`
  return {
    cause: 'header-twice',
    proven: true,
    text: `The header ${headerName} is present ${values.length} times; ${which}. A receiver refuses that, because it cannot tell which one to trust. Look for a proxy or a test client that adds the header to a request that already has it, and make it replace or keep the header.`,
  }
}

function splitJoined(line: string): string[] {
  return line.split(/,\s*(?=t=)/).filter(value => value.includes('t='))
}

function verifies(value: string, facts: Facts): boolean {
  const signature = parseSignatureHeader(value, facts.scheme)
  if (signature instanceof Refusal) return false
  return [facts.secret, ...facts.others].some(secret =>
    proves({ ...facts, signature }, { key: secret.value }),
  )
}

import type { Facts } from '../evidence/facts.ts'
import type { Finding } from '../evidence/finding.ts'

/** Always applies, with advice for a delivery whose fault was not found. */
export function somethingElse({ text, secret, others }: Facts): Finding | undefined {
  const tried =
    others.length === 0 ? `the secret from ${secret.source}` : `any of ${others.length + 1} secrets`
  return isCompact(text)
    ? {
        cause: 'secret-wrong',
        proven: false,
        text: `The signature does not match ${tried}, and the body looks unchanged. The secret probably belongs to another endpoint or workspace, or is an old one: copy this endpoint's secret again. During a rotation, set the other secret as SIGNING_SECRET_2.`,
      }
    : {
        cause: 'unknown',
        proven: false,
        text: `The signature does not match ${tried}, and no usual change of the body explains it. Check that the secret belongs to this endpoint, and that these are the bytes as they arrived: save the delivery again with npx ackhook listen --save, with nothing between it and the platform.`,
      }
}

function isCompact(text: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === text
  } catch {
    return false
  }
}

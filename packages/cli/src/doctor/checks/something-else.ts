import type { Facts } from '../facts.ts'
import type { Finding } from '../finding.ts'

/** Always applies: what to look at when nothing was found. */
export function somethingElse({ text, secret, others }: Facts): Finding | undefined {
  const tried =
    others.length === 0 ? `the secret from ${secret.source}` : `any of ${others.length + 1} secrets`
  return isCompact(text)
    ? {
        cause: 'secret-wrong',
        proven: false,
        text: `The signature does not match ${tried}, and the body looks as a sender writes it. So most likely the secret is that of another endpoint or workspace, or an old one: copy the secret of exactly this endpoint again. During a rotation put the other secret into ACKHOOK_SECRET_2.`,
      }
    : {
        cause: 'unknown',
        proven: false,
        text: `The signature does not match ${tried}, nor does any usual change of the body explain it. Check two things: that the secret is that of exactly this endpoint, and that these are the bytes as they came: save the delivery again with ackhook listen --save, with nothing between it and the platform.`,
      }
}

function isCompact(text: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === text
  } catch {
    return false
  }
}

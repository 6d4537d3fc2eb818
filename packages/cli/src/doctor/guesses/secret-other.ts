import type { Facts } from '../evidence/facts.ts'
import type { Guess } from '../evidence/finding.ts'

export function secretOther({ secret, others }: Facts): readonly Guess[] {
  return others.map(other => ({
    cause: 'secret-other',
    key: other.value,
    text: `The delivery is signed with the secret from ${other.source}, not with the one from ${secret.source}. During a rotation your app needs both: secret: [newSecret, oldSecret]. After the rotation, use only the new one.`,
  }))
}

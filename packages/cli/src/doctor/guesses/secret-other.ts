import type { Facts } from '../facts.ts'
import type { Guess } from '../finding.ts'

export function secretOther({ secret, others }: Facts): readonly Guess[] {
  return others.map(other => ({
    cause: 'secret-other',
    key: other.value,
    text: `The delivery is signed with the secret from ${other.source}, and not with the one from ${secret.source}. During a rotation your app must know both: secret: [newSecret, oldSecret]. When the rotation is over, use the new one alone.`,
  }))
}

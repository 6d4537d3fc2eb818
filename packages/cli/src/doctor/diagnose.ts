import type { ContractOptions, Duration } from '@ackhook/core'
import type { CapturedRequest } from '../delivery/captured-request.ts'
import { judge } from '../delivery/judge.ts'
import type { NamedSecret } from '../secrets/resolve-secrets.ts'
import { bodyEmpty } from './checks/body-empty.ts'
import { bodyNoEvent } from './checks/body-no-event.ts'
import { bodyReplaced } from './checks/body-replaced.ts'
import { bodyTruncated } from './checks/body-truncated.ts'
import { clockOff } from './checks/clock-off.ts'
import { contentEncoded } from './checks/content-encoded.ts'
import { headerMalformed } from './checks/header-malformed.ts'
import { headerMissing } from './checks/header-missing.ts'
import { headerTruncated } from './checks/header-truncated.ts'
import { headerTwice } from './checks/header-twice.ts'
import { methodNotPost } from './checks/method-not-post.ts'
import { somethingElse } from './checks/something-else.ts'
import { timestampUnit } from './checks/timestamp-unit.ts'
import { type Facts, gatherFacts } from './evidence/facts.ts'
import type { Check, Finding, Guess, Suppose } from './evidence/finding.ts'
import { proves } from './evidence/proves.ts'
import { bodyCharset } from './guesses/body-charset.ts'
import { bodyCompressed } from './guesses/body-compressed.ts'
import { bodyReserialized } from './guesses/body-reserialized.ts'
import { bodyWhiteSpace } from './guesses/body-white-space.ts'
import { bodyWrapped } from './guesses/body-wrapped.ts'
import { secretEncoded } from './guesses/secret-encoded.ts'
import { secretOther } from './guesses/secret-other.ts'
import { secretQuoted } from './guesses/secret-quoted.ts'
import { secretWhiteSpace } from './guesses/secret-white-space.ts'
import { timestampSigned } from './guesses/timestamp-signed.ts'

export type { Finding } from './evidence/finding.ts'

/** Settings of the receiver that {@link diagnose} assumes. */
export interface DiagnoseOptions {
  /** The app's own secret first. The others are tried as well. */
  readonly secrets: readonly NamedSecret[]
  /** The receiver's option `contract`. */
  readonly contract?: ContractOptions | undefined
  /** The receiver's tolerance. Default `'5m'`. */
  readonly tolerance?: Duration | false | undefined
}

/** Verdict on a delivery, with the reason if it does not verify. */
export interface Diagnosis {
  /** `true` if a receiver with the first secret accepts the delivery, at the time of its arrival. */
  readonly verified: boolean
  /** The receiver's own reason, or `accepted`. */
  readonly code: string
  /** The most likely cause first. */
  readonly findings: readonly Finding[]
}

/** Checks that compute no digest. Each one that applies is the whole cause. */
const PLAIN: readonly Check[] = [
  methodNotPost,
  headerMissing,
  headerTwice,
  headerTruncated,
  headerMalformed,
  timestampUnit,
  clockOff,
  bodyNoEvent,
]

const SECRETS: readonly Suppose[] = [secretOther, secretWhiteSpace, secretQuoted, secretEncoded]
const BODIES: readonly Suppose[] = [
  bodyWhiteSpace,
  bodyReserialized,
  bodyWrapped,
  bodyCharset,
  bodyCompressed,
]
const PREFIXES: readonly Suppose[] = [timestampSigned]

/** Checks for traces in a body whose signed form cannot be reconstructed. */
const TRACES: readonly Check[] = [bodyEmpty, bodyTruncated, contentEncoded, bodyReplaced, somethingElse]

/** Largest body for which pairs of mishaps are tried, as there are thousands of pairs. */
const LARGEST_PAIRED = 65_536

/** Explains why a delivery does not verify. Throws `ConfigurationError` for secrets that every receiver refuses. */
export async function diagnose(delivery: CapturedRequest, options: DiagnoseOptions): Promise<Diagnosis> {
  const first = options.secrets.slice(0, 1).map(secret => secret.value)
  const { accepted, code } = await judge(delivery, { ...options, secrets: first })
  const facts = gatherFacts(delivery, { ...options, code })
  const plain = firstOf(PLAIN, facts)
  if (accepted || plain !== undefined) {
    return { verified: accepted, code, findings: plain === undefined ? [] : [plain] }
  }
  const proven = prove(facts)
  const traces = TRACES.flatMap(check => check(facts) ?? [])
  return { verified: false, code, findings: proven.length > 0 ? proven : traces.slice(0, 1) }
}

/** Proves one mishap, or a wrong secret together with one mishap. */
function prove(facts: Facts): Finding[] {
  const secrets = SECRETS.flatMap(suppose => suppose(facts))
  const contents = [...BODIES, ...PREFIXES].flatMap(suppose => suppose(facts))
  const single = [...secrets, ...contents].find(guess => proves(facts, guess))
  if (single !== undefined) return [toFinding(single)]
  if (facts.delivery.body.length > LARGEST_PAIRED) return []
  for (const secret of secrets) {
    const content = contents.find(guess => proves(facts, secret, guess))
    if (content !== undefined) return [toFinding(secret), toFinding(content)]
  }
  return []
}

function toFinding({ cause, text }: Guess): Finding {
  return { cause, proven: true, text }
}

function firstOf(checks: readonly Check[], facts: Facts): Finding | undefined {
  for (const check of checks) {
    const finding = check(facts)
    if (finding !== undefined) return finding
  }
  return undefined
}

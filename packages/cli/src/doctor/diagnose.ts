import { type ContractOptions, createReceiver, type Duration } from '@ackhook/core'
import { type CapturedRequest, joinHeaders } from '../delivery/captured-request.ts'
import type { NamedSecret } from '../secrets/resolve-secrets.ts'
import { CHECKS, TRACES } from './checks.ts'
import { type Check, type Facts, type Finding, type Guess, gatherFacts, proves } from './evidence.ts'
import { CONTENTS, SECRETS } from './guesses.ts'

export type { Finding } from './evidence.ts'

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

/** Most bytes that are signed to try pairs of mishaps, as there are thousands of pairs. */
const MOST_PAIRED = 268_435_456

/** Explains why a delivery does not verify. Throws `ConfigurationError` for secrets that every receiver refuses. */
export async function diagnose(delivery: CapturedRequest, options: DiagnoseOptions): Promise<Diagnosis> {
  const first = options.secrets.slice(0, 1).map(secret => secret.value)
  const { accepted, code } = await judge(delivery, { ...options, secrets: first })
  const facts = gatherFacts(delivery, { ...options, code })
  const plain = firstOf(CHECKS, facts)
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
  const contents = CONTENTS.flatMap(suppose => suppose(facts))
  const single = [...secrets, ...contents].find(guess => proves(facts, guess))
  if (single !== undefined) return [toFinding(single)]
  const bytes = contents.reduce((sum, { body = facts.delivery.body }) => sum + body.length, 0)
  if (bytes * secrets.length > MOST_PAIRED) return []
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

interface JudgeOptions {
  readonly secrets: readonly string[]
  readonly contract?: ContractOptions | undefined
  readonly tolerance?: Duration | false | undefined
}

/** A receiver's verdict on a delivery. `code` is the actual reason, which the reply does not reveal. */
interface Judgment {
  readonly accepted: boolean
  readonly code: string
  readonly detail?: string
}

const SILENT = { info() {}, warn() {}, error() {} }

/**
 * Judges a delivery with a real receiver at the time of its arrival, so the verdict is that of production. Throws
 * `ConfigurationError` for secrets or options that every receiver refuses.
 */
async function judge(delivery: CapturedRequest, options: JudgeOptions): Promise<Judgment> {
  let refusal: Judgment | undefined
  const receiver = createReceiver({
    secret: options.secrets,
    tolerance: options.tolerance ?? '5m',
    ...(options.contract && { contract: options.contract }),
    body: { limit: Math.max(1_048_576, delivery.body.length) },
    // The default retention is too short for the widest tolerance. Nothing is remembered here anyway.
    retention: '365d',
    clock: () => delivery.receivedAt,
    logger: SILENT,
    observe(observation) {
      if (observation.kind !== 'rejected') return
      const { code, detail } = observation
      refusal = { accepted: false, code, ...(detail !== undefined && { detail }) }
    },
  })
  await receiver.handle({
    method: delivery.method,
    headers: joinHeaders(delivery.headers),
    body: delivery.body,
    context: undefined,
  })
  await receiver.close()
  return refusal ?? { accepted: true, code: 'accepted' }
}

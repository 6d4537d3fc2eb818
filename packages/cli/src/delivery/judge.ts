import { type ContractOptions, createReceiver, type Duration } from '@ackhook/core'
import type { Delivery } from './delivery-file.ts'
import { joinHeaders } from './join-headers.ts'

export interface JudgeOptions {
  readonly secrets: readonly string[]
  readonly contract?: ContractOptions
  readonly tolerance?: Duration | false
}

/** What a receiver says of a delivery. `code` is the true reason, which the sender is not told. */
export interface Judgement {
  readonly accepted: boolean
  readonly code: string
  readonly detail?: string
}

const SILENT = { info() {}, warn() {}, error() {} }

/**
 * Lets a real receiver judge a delivery, at the time when it arrived: whatever it says here it says in
 * production. Throws `ConfigurationError` for secrets or options that no receiver takes.
 */
export async function judge(delivery: Delivery, options: JudgeOptions): Promise<Judgement> {
  let refusal: Judgement | undefined
  const receiver = createReceiver({
    secret: options.secrets,
    tolerance: options.tolerance ?? '5m',
    ...(options.contract && { contract: options.contract }),
    bodyLimit: Math.max(1_048_576, delivery.body.length),
    // The default retention is too short for the widest tolerance; nothing is remembered here anyway.
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

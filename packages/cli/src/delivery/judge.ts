import { type ContractOptions, createReceiver, type Duration } from '@ackhook/core'
import type { CapturedRequest } from './captured-request.ts'
import { joinHeaders } from './join-headers.ts'

export interface JudgeOptions {
  readonly secrets: readonly string[]
  readonly contract?: ContractOptions | undefined
  readonly tolerance?: Duration | false | undefined
}

/** A receiver's verdict on a delivery. `code` is the actual reason, which the reply does not reveal. */
export interface Judgment {
  readonly accepted: boolean
  readonly code: string
  readonly detail?: string
}

const SILENT = { info() {}, warn() {}, error() {} }

/**
 * Judges a delivery with a real receiver at the time of its arrival, so the verdict is that of production. Throws
 * `ConfigurationError` for secrets or options that every receiver refuses.
 */
export async function judge(delivery: CapturedRequest, options: JudgeOptions): Promise<Judgment> {
  let refusal: Judgment | undefined
  const receiver = createReceiver({
    secret: options.secrets,
    tolerance: options.tolerance ?? '5m',
    ...(options.contract && { contract: options.contract }),
    bodyLimit: Math.max(1_048_576, delivery.body.length),
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

import type { WebhookEvent } from '@ackhook/core'

/**
 * The options that the receiver under test must be made with. The limits are small so that the suite need not
 * send megabytes nor wait for minutes.
 */
export const adapterSuiteOptions: {
  readonly secret: string
  readonly bodyLimit: number
  readonly bodyTimeout: number
} = { secret: 'whsec_adapter_suite_0123456789', bodyLimit: 65_536, bodyTimeout: 2 }

/** A server that listens on a real socket, as the cases see it. */
export interface AdapterTarget {
  /** Where the webhook route is mounted, for every method. Plain HTTP. */
  readonly url: string
  /** The same receiver mounted behind whatever reads JSON bodies in this framework. */
  readonly parsedUrl: string
  /** Every event that a handler of `'*'` has been given so far, in order. */
  handled(): readonly WebhookEvent[]
}

/** One promise of an adapter. `id` never changes its meaning. */
export interface AdapterCase {
  readonly id: string
  /** The promise, as a sentence. */
  readonly name: string
  /** Resolves when the promise holds; rejects with a plain `Error` that says what happened instead. */
  run(target: AdapterTarget): Promise<void>
}

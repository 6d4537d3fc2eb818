import type { Duration, WebhookEvent } from '@ackhook/core'
import type { Closable, TargetCase } from '../lib/suite-case.ts'

/**
 * Options for the receiver under test. The limits are small, so that the suite neither sends megabytes nor waits for
 * minutes.
 */
export const adapterSuiteOptions: {
  readonly secret: string
  readonly body: { readonly limit: number; readonly timeout: Duration }
} = { secret: 'whsec_adapter_suite_0123456789', body: { limit: 65_536, timeout: '2s' } }

/** A receiver's options, including those of the suite, that an adapter must pass on. */
export interface SuiteReceiverOptions {
  readonly secret: string | ((context: unknown) => string)
  readonly namespace?: (context: unknown) => string
  readonly body: { readonly limit: number; readonly timeout: Duration }
}

/** A server that listens on a real socket, as seen by the cases. */
export interface AdapterTarget extends Closable {
  /** Address of the webhook route, mounted for every method. Plain HTTP. */
  readonly url: string
  /** The same receiver mounted behind the framework's JSON parser. */
  readonly parsedUrl: string
  /** Every event that a handler of `'*'` has received so far, in order. */
  handled(): readonly WebhookEvent[]
}

/** A server with one of the suite's receivers. */
export interface MountedTarget extends Closable {
  readonly url: string
}

/** A response of `node:http`, as seen by the cases. */
export interface AwaitedResponse {
  readonly writableFinished: boolean
}

/** A server as seen by a case. A server tested from outside has neither `parsedUrl` nor `handled`. */
export interface ServerTarget extends Closable {
  readonly url: string
  readonly secret: string
  readonly bodyLimit: number
  readonly parsedUrl?: string
  handled?(): readonly WebhookEvent[]
}

export type AdapterCase = TargetCase<ServerTarget>

/** A case that opens its own server. */
export type OwnCase = TargetCase<Closable>

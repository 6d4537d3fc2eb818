import type { Duration, WebhookEvent } from '@ackhook/core'
import type { Closable, TargetCase } from '../lib/suite-case.ts'

/**
 * The options that the receiver under test must be made with. The limits are small, so that the suite
 * neither sends megabytes nor waits for minutes.
 */
export const adapterSuiteOptions: {
  readonly secret: string
  readonly bodyLimit: number
  readonly bodyTimeout: Duration
} = { secret: 'whsec_adapter_suite_0123456789', bodyLimit: 65_536, bodyTimeout: '2s' }

/** Options of a receiver, those of the suite included, that an adapter must hand on. */
export interface SuiteReceiverOptions {
  readonly secret: string | ((context: unknown) => string)
  readonly namespace?: (context: unknown) => string
  readonly bodyLimit: number
  readonly bodyTimeout: Duration
}

/** A server that listens on a real socket, as the cases see it. */
export interface AdapterTarget extends Closable {
  /** Address of the webhook route, mounted for every method. Plain HTTP. */
  readonly url: string
  /** The same receiver mounted behind the framework's JSON parser. */
  readonly parsedUrl: string
  /** Every event that a handler of `'*'` has received so far, in order. */
  handled(): readonly WebhookEvent[]
}

/** A server with a receiver of the suite. */
export interface MountedTarget extends Closable {
  readonly url: string
}

/** A response of `node:http`, as the cases see it. */
export interface AwaitedResponse {
  readonly writableFinished: boolean
}

/** A server as a case sees it. One that is tested from outside has neither `parsedUrl` nor `handled`. */
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

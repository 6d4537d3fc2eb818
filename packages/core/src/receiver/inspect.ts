import { ConfigurationError } from '../errors/errors.ts'
import type { Refusal } from '../errors/refusal.ts'
import type { Contract } from '../events/contract.ts'
import type { DeliveryTap } from '../events/decode-event.ts'
import type { WebhookEvent } from '../events/event-types.ts'
import type { DeliveryParts } from '../inbox/delivery.ts'
import type { Inbox, ProcessEvent } from '../inbox/inbox.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'
import type { RoundsBoard } from '../lib/rounds.ts'
import type { OutageState } from '../observe/failure-log.ts'
import type { Logger } from '../observe/logger.ts'
import type { Observation } from '../observe/observation.ts'
import type { ReceiverState } from './lifecycle.ts'
import type { SilenceState } from './silence.ts'

/** Parts of a receiver for tools, such as a dashboard and its tests. */
export interface InspectedReceiver {
  readonly inbox: Inbox
  /** Passes an observation to every observer of the receiver. Never throws. */
  readonly observe: (observation: Observation) => void
  readonly logger: Logger
  /** The option `contract`, with every default filled in. */
  readonly contract: Contract
  /** Maximum number of pending and running events. */
  readonly capacity: number
  readonly state: () => ReceiverState
  /** State of the option `expectEvery`. `undefined` without it, and before the start. */
  readonly silence: () => SilenceState | undefined
  /** Outage of the inbox or its store, as far as this receiver has seen it. `undefined` if there is none. */
  readonly outage: () => OutageState | undefined
  /** Returns whether the receiver is shutting down: it drains, or `beginStop` was called. */
  readonly isStopping: () => boolean
  /** Turns readiness off. Deliveries are accepted until `close()`. */
  readonly beginStop: () => void
  /** When each kind of recurring work of this receiver last completed. */
  readonly rounds: RoundsBoard
  /** Returns whether stored events may wait because nobody has started this receiver. */
  readonly isNeverStarted: () => boolean
  /**
   * Starts without being awaited, and tries again until that succeeds or the receiver is closed. `keepsProcess`: the
   * process stays alive for it.
   */
  readonly keepStarting: (options: { readonly keepsProcess: boolean }) => void
  /** Wraps the function that runs attempts. Throws once processing has started. */
  readonly wrap: (wrap: WrapProcess) => void
  /**
   * Calls `tap` with each delivery whose signature and time hold, whatever else is wrong with it. Returns a
   * function that removes it. What a tap throws is logged, and changes nothing else.
   */
  readonly tapDeliveries: (tap: DeliveryTap) => () => void
}

/** Wraps a function that runs attempts in one with the same guarantees. */
export type WrapProcess = (run: ProcessEvent, tools: ProcessTools) => ProcessEvent

/** Property of an observer that traces deliveries as well as observing them. */
export const TRACING: unique symbol = Symbol.for('ackhook.tracing')

/** Tracing hooks. Used only on the `observe` option; neither may throw. */
export interface Tracing {
  readonly traceOf: NonNullable<DeliveryParts<never>['traceOf']>
  /** Runs attempts, and so every handler and listener, in the tracer's async context. */
  readonly wrap: WrapProcess
}

/** Parts of a receiver that process an event. */
export interface ProcessTools {
  decode(body: Uint8Array): MaybePromise<WebhookEvent | Refusal>
  /** Returns how many handlers of `on` match a type. `0`: the event goes to `onUnhandled`. */
  countHandlers(type: string): number
}

/** Hidden member of every receiver made by `createReceiver`. Adapters copy it with the other members. */
export interface Inspectable {
  readonly inspect: () => InspectedReceiver
}

/**
 * Returns a receiver's parts for tools; no application needs it. Throws `ConfigurationError` unless `createReceiver`
 * made the receiver.
 */
export function inspectReceiver(receiver: object): InspectedReceiver {
  const { inspect } = receiver as Partial<Inspectable>
  if (typeof inspect === 'function') return inspect()
  throw new ConfigurationError('receiver', "must be made by createReceiver(), or by an adapter's webhooks()")
}

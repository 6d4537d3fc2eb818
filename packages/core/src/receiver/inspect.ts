import { ConfigurationError } from '../errors/errors.ts'
import type { Refusal } from '../errors/refusal.ts'
import type { WebhookEvent } from '../events/event-types.ts'
import type { DeliveryParts } from '../inbox/delivery.ts'
import type { Inbox, ProcessEvent } from '../inbox/inbox.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'
import type { Logger } from '../observe/logger.ts'
import type { Observation } from '../observe/observation.ts'

/** The parts of a receiver that tools look at: a dashboard, and what tests one. */
export interface InspectedReceiver {
  readonly inbox: Inbox
  /** Hands an observation to every observer of the receiver. Never throws. */
  readonly observe: (observation: Observation) => void
  readonly logger: Logger
  /** Returns whether it shuts down: it drains, or `beginStop` was called. */
  readonly isStopping: () => boolean
  /** Turns readiness off. Deliveries are accepted until `close()`. */
  readonly beginStop: () => void
  /** Puts something around what runs the attempts. Throws once processing has started. */
  readonly wrap: (wrap: WrapProcess) => void
}

/** Makes of what runs an attempt something else that does, with the same promises. */
export type WrapProcess = (run: ProcessEvent, tools: ProcessTools) => ProcessEvent

/** The property of an observer that traces deliveries as well as it observes them. */
export const TRACING: unique symbol = Symbol.for('ackhook.tracing')

/** Counts only for the option `observe`. Neither may throw. */
export interface Tracing {
  readonly traceOf: NonNullable<DeliveryParts<never>['traceOf']>
  /** Runs what it wraps, and so every handler and listener, in the async context that it wants for them. */
  readonly wrap: WrapProcess
}

/** Parts of a receiver that process an event. */
export interface ProcessTools {
  decode(body: Uint8Array): MaybePromise<WebhookEvent | Refusal>
  /** Returns how many handlers of `on` match a type. `0`: the event goes to `onUnhandled`. */
  countHandlers(type: string): number
}

/** Hidden member of every receiver of `createReceiver`. Adapters copy it with the other members. */
export interface Inspectable {
  readonly inspect: () => InspectedReceiver
}

/**
 * Opens a receiver for tools; no application needs it. Throws `ConfigurationError` unless `createReceiver` made the
 * receiver.
 */
export function inspectReceiver(receiver: object): InspectedReceiver {
  const { inspect } = receiver as Partial<Inspectable>
  if (typeof inspect === 'function') return inspect()
  throw new ConfigurationError('receiver', 'must be made by createReceiver(), or by webhooks() of an adapter')
}

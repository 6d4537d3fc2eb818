import { ConfigurationError } from '../errors/errors.ts'
import type { Inbox } from '../inbox/inbox.ts'
import type { Observation } from '../observe/observation.ts'
import type { Tap } from './tap.ts'

/** The parts of a receiver that a dashboard looks at. */
export interface InspectedReceiver {
  readonly inbox: Inbox
  /** Hands an observation to every observer of the receiver. Never throws. */
  readonly observe: (observation: Observation) => void
}

/** What every receiver of `createReceiver` has beside its interface. Adapters copy it with the other members. */
export interface Inspectable {
  readonly inspect: () => InspectedReceiver & { readonly tap: (tap: Tap) => void }
}

/**
 * The inbox of a receiver, and its observers. For tools: nothing in an application needs it. Throws
 * `ConfigurationError` for what `createReceiver` did not make.
 */
export function inspectReceiver(receiver: object): InspectedReceiver {
  return inspect(receiver)
}

/**
 * Calls `tap` after every attempt of a receiver that has not started yet. For testing tools: nothing in an
 * application needs it. Throws `ConfigurationError` for what `createReceiver` did not make.
 */
export function tapReceiver(receiver: object, tap: Tap): void {
  inspect(receiver).tap(tap)
}

function inspect(receiver: object): ReturnType<Inspectable['inspect']> {
  const { inspect: parts } = receiver as Partial<Inspectable>
  if (typeof parts === 'function') return parts()
  throw new ConfigurationError('receiver', 'must be made by createReceiver(), or by webhooks() of an adapter')
}

/**
 * Parts for tools. {@link tapReceiver} watches a receiver's attempts, and {@link exchange} makes one request. The rest are parts of {@link createSender}, for tools with their own schedule: one attempt with its faults, and the time of
 * the next one. Changes here are announced like any other.
 *
 * @module
 */

export { type TappedAttempt, tapReceiver } from './receiver/tap-receiver.ts'
export { eventBytes } from './requests/event-bytes.ts'
export { EVENT_TYPES, type EventType } from './requests/event-types.ts'
export type { FailedAttempt } from './sender/backoff.ts'
export {
  DELIVERY_NAMES,
  type DeliveryOptions,
  type DeliveryRules,
  resolveDeliveryRules,
} from './sender/delivery-rules.ts'
export {
  type Exchange,
  type ExchangeLimits,
  exchange,
  type NoReply,
  type OutgoingRequest,
  type ReplyReceived,
} from './sender/exchange.ts'
export { type FaultOptions, type Faults, resolveFaults } from './sender/faults.ts'
export { type AttemptMade, type AttemptPlan, makeAttempt } from './sender/make-attempt.ts'
export { type FailedDelivery, nextAttemptAt } from './sender/next-attempt.ts'
export { codeOf, redirectOf } from './sender/post.ts'
export type { InjectedFault } from './sender/send-attempt.ts'
export { shuffleSome } from './sender/shuffle-some.ts'
export type { AttemptDraft } from './sender/sign-attempt.ts'

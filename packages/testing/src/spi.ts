/**
 * For tools. {@link tapReceiver} watches the attempts of a receiver, {@link runCase} runs a case of a suite. The rest are the pieces of {@link createSender}, for
 * tools that deliver in their own time: one attempt signed with its faults, one exchange, one delay.
 * Changes here are announced like any other.
 *
 * @module
 */

export { runCase } from './lib/run-case.ts'
export { type TappedAttempt, tapReceiver } from './receiver/tap-receiver.ts'
export { eventBytes } from './requests/event-bytes.ts'
export { type FailedAttempt, retryDelayMs } from './sender/backoff.ts'
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
  type ReplyReceived,
} from './sender/exchange.ts'
export { type FaultOptions, type Faults, resolveFaults } from './sender/faults.ts'
export { codeOf, retryAfterOf } from './sender/post.ts'
export { retryAfterMs } from './sender/retry-after.ts'
export type { InjectedFault } from './sender/send-attempt.ts'
export { shuffleSome } from './sender/shuffle-some.ts'
export { type AttemptDraft, type SignedAttempt, signAttempt } from './sender/sign-attempt.ts'

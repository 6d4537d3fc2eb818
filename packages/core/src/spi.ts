/**
 * API for adapters, stores, inboxes and tools, in addition to the types that
 * `@ackhook/core` exports. Changes here are announced like any other.
 *
 * @module
 */

export { CODES, isFromSender, isProven } from './errors/codes.ts'
export { type EarlierVersionParts, earlierVersion } from './errors/earlier-version.ts'
export { DOCS, describeError, stackOf } from './errors/errors.ts'
export { isError } from './errors/is-error.ts'
export { kindOf } from './errors/kind-of.ts'
export { Refusal } from './errors/refusal.ts'
export { resolveContract } from './events/contract.ts'
export type { DeliveryTap, TappedDelivery } from './events/decode-event.ts'
export { KNOWN_TYPES } from './events/event-types.ts'
export { covers, requirePattern } from './events/type-pattern.ts'
export { findWaitUntil } from './fetch/find-wait-until.ts'
export { readRequestBody } from './fetch/read-request-body.ts'
export { replyTo } from './http/reply.ts'
export { headerOf, UNREADABLE, unreadable } from './http/request.ts'
export { ACCEPT_RESULTS, type AcceptResult, MAX_LOOKUPS_WHEN_FULL } from './inbox/accept-result.ts'
export {
  ACTIVITY_WINDOWS,
  type ActivityCounts,
  type ActivityLog,
  type ActivityName,
  type ActivityQuery,
  type ActivitySlot,
  type ActivitySource,
  type ActivityWindow,
  type AddActivity,
  activityName,
  activityQuery,
  BUCKETS,
  bucketMs,
  type Counted,
  type CountedSlot,
  MAX_SLOT_BYTES,
  OTHER_TYPES,
  readActivityName,
  slotsAt,
  type Timed,
} from './inbox/activity.ts'
export { ABORT, type Attempt, createAttempt } from './inbox/attempt.ts'
export type {
  BrowsedEvent,
  BrowseQuery,
  BrowseState,
  BrowseSupport,
  EventLookup,
  MinuteCount,
} from './inbox/browse.ts'
export { type CrashDecision, crashDelayMs, crashPolicy } from './inbox/crash-policy.ts'
export type {
  Claim,
  ClaimOptions,
  CompleteOptions,
  KeptRuns,
  RunCount,
  StoredId,
  StoreNotice,
} from './inbox/dedupe-store.ts'
export { eventKey, eventRef } from './inbox/delivery.ts'
export { PauseLog, type PauseLogParts, pausedType, sortedPauses } from './inbox/handling.ts'
export type {
  AttemptResult,
  DeadLetterStore,
  DrainDeadline,
  Erasure,
  OlderLetters,
  ProcessEvent,
  ProcessingPolicy,
} from './inbox/inbox.ts'
export { JudgedClock, type JudgedTime } from './inbox/judged-clock.ts'
export { KeptUndos } from './inbox/kept-undos.ts'
export { type Held, LeaseTime, type Moment, momentNow } from './inbox/lease-time.ts'
export { LeasedAttempts, type LeasedAttemptsParts, type Unended } from './inbox/leased/leased-attempts.ts'
export type { LeaseEngine, Standing, Take, TakeState } from './inbox/leased/take.ts'
export { failedBefore } from './inbox/letter-age.ts'
export {
  type CountedLetter,
  DEFAULT_GROUPS,
  GroupCount,
  type GroupedLetter,
  groupOf,
  largestFirst,
  letterGroup,
  readGroups,
} from './inbox/letter-group.ts'
export type {
  HandlerSharing,
  InboxProcess,
  Postponed,
  PresenceDirectory,
  PresenceStore,
  PresenceView,
  PublishedHandlers,
  Route,
} from './inbox/presence.ts'
export { RecordRetries } from './inbox/record-retries.ts'
export type { RetryPolicy } from './inbox/retry.ts'
export { isSealed } from './inbox/sealed.ts'
export { traceContext } from './inbox/trace-context.ts'
export { ByteCollector } from './lib/byte-collector.ts'
export { oneOf, refuseUnknownNames, show, wholeNumber } from './lib/check-option.ts'
export { afterArrivals, settlesWithin, withDeadline } from './lib/deadline.ts'
export { durationMs } from './lib/duration.ts'
export { refuseGenerator } from './lib/lazy-value.ts'
export { literal, literalKey } from './lib/literal.ts'
export { nearest } from './lib/nearest.ts'
export { onceAMinute } from './lib/once-a-minute.ts'
export { printable } from './lib/printable.ts'
export { type Round, Rounds, RoundsBoard, type RoundsParts } from './lib/rounds.ts'
export { shellWord } from './lib/shell-word.ts'
export { createTokens } from './lib/tokens.ts'
export { consoleLogger } from './platform/console-logger.ts'
export { createTimeouts } from './platform/create-timeouts.ts'
export type { Timeout, Timeouts } from './platform/platform.ts'
export {
  type InspectedReceiver,
  inspectReceiver,
  type ProcessTools,
  TRACING,
  type Tracing,
  type WrapProcess,
} from './receiver/inspect.ts'
export type { ReceiverState } from './receiver/lifecycle.ts'
export { RECEIVER_OPTIONS, RENAMED_OPTIONS } from './receiver/options.ts'
export { requireReceiver, toReceiver, wrongFramework } from './receiver/to-receiver.ts'
export { acceptPrintedSecrets } from './verify/printed-secrets.ts'
export { secretsFault } from './verify/secrets.ts'
export { parseSignatureHeader, type SignatureHeader } from './verify/signature-header.ts'
export { parseTimestamp } from './verify/timestamp.ts'
export { refuseLazy } from './worker/returned-value.ts'

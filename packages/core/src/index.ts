// For applications.
export type { HandlerContext } from './attempt.ts'
// For adapters, stores, inboxes and tools.
export { ABORT, type Attempt, createAttempt } from './attempt.ts'
export type { RefusalCode, ReplyCode } from './codes.ts'
export { CODES } from './codes.ts'
export type { Contract, ContractOptions, EnvelopeFields, TimestampUnit, UncheckedEvent } from './contract.ts'
export { resolveContract } from './contract.ts'
export { withDeadline } from './deadline.ts'
export type { Claim, ClaimOptions, CompleteOptions, DedupeStore, StoreNotice } from './dedupe-store.ts'
export type { BodyLimits, HeaderSource, ReadBody, WebhookReply, WebhookRequest } from './delivery.ts'
export type { Duration } from './duration.ts'
export { durationMs } from './duration.ts'
export {
  AckhookError,
  ConfigurationError,
  type ErrorCode,
  NonRetryableError,
  RetryAfterError,
} from './errors.ts'
export {
  type AnyEvent,
  type ConversationResolvedData,
  type EventFor,
  type EventHandler,
  type EventMap,
  type EventPattern,
  type EventSchemas,
  isEvent,
  type KnownEvents,
  type WebhookEvent,
} from './event-types.ts'
export type { Failure, FailureHandler } from './failure.ts'
export { readRequestBody } from './fetch/read-request-body.ts'
export { type FetchContext, type FetchWebhookHandler, toFetchHandler } from './fetch/to-fetch-handler.ts'
export { eventKey } from './identity.ts'
export type {
  Acceptance,
  DeadLetter,
  DeadLetterStore,
  Delivery,
  DrainReport,
  Inbox,
  InboxStats,
  Process,
  ProcessingPolicy,
  SerialOrder,
  Verdict,
} from './inbox.ts'
export type { Logger } from './logger.ts'
export type { MaybePromise } from './maybe-promise.ts'
export { describeError } from './memory/dead-letters.ts'
export { type MemoryInboxOptions, memoryInbox } from './memory/memory-inbox.ts'
export { type MemoryStoreOptions, memoryStore } from './memory/memory-store.ts'
export type { Observation, Observer } from './observation.ts'
export type { ReceiverOptions } from './options.ts'
export { createReceiver } from './receiver.ts'
export type { DeadLetters, InNamespace, Receiver } from './receiver-api.ts'
export { Refusal } from './refusal.ts'
export { replyTo } from './respond.ts'
export type { RetryOptions, RetryPolicy } from './retry.ts'
export type { Secret, SecretResolver, SecretSource } from './secrets.ts'
export { parseSignatureHeader, type SignatureHeader } from './signature-header.ts'
export { type Tap, type TappedAttempt, tapReceiver } from './tap.ts'
export { parseTimestamp } from './timestamp.ts'
export { toReceiver } from './to-receiver.ts'

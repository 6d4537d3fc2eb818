/**
 * API for applications that use a receiver. Adapters, stores, inboxes and tools import the rest from
 * `@ackhook/core/spi`.
 *
 * @module
 */

export type { RefusalCode, ReplyCode } from './errors/codes.ts'
export {
  AckhookError,
  ConfigurationError,
  type ErrorCode,
  NonRetryableError,
  RetryAfterError,
} from './errors/errors.ts'
export type { Duration } from './errors/parse-duration.ts'
export type {
  Contract,
  ContractOptions,
  EnvelopeFields,
  TimestampUnit,
  UncheckedEvent,
} from './events/contract.ts'
export {
  type AnyEvent,
  type ConversationResolvedData,
  type EventFor,
  type EventHandler,
  type EventMap,
  type EventOf,
  type EventPattern,
  type EventSchemas,
  type EventsOf,
  type HandlerContext,
  type HandlerOf,
  isEvent,
  type KnownEvents,
  type SchemaEvents,
  type WebhookEvent,
} from './events/event-types.ts'
export { type FetchContext, type FetchWebhookHandler, toFetchHandler } from './fetch/to-fetch-handler.ts'
export { health } from './health/health.ts'
export type { BodyLimits, HeaderSource, ReadBody, WebhookReply, WebhookRequest } from './http/request.ts'
export type { BrowsedEvent, EventLookup } from './inbox/browse.ts'
export type { DedupeStore, StoredId } from './inbox/dedupe-store.ts'
export type { Delivery, GroupBy, SerializeBy, SerializeContext, SerialOrder } from './inbox/delivery.ts'
export type { Groups, HandlingControl, PausedHandling } from './inbox/handling.ts'
export type {
  DeadLetter,
  DeadLetterGroup,
  DrainReport,
  GroupOptions,
  Inbox,
  InboxStats,
  LetterGroups,
  ListOptions,
} from './inbox/inbox.ts'
export { type MemoryInboxOptions, memoryInbox } from './inbox/memory/memory-inbox.ts'
export { type MemoryStoreOptions, memoryStore } from './inbox/memory/memory-store.ts'
export type { RetryOptions } from './inbox/retry.ts'
export type { TraceContext } from './inbox/trace-context.ts'

export type { MaybePromise } from './lib/maybe-promise.ts'
export { messageFirst } from './observe/foreign-loggers.ts'
export type { AnyLogger, BackstageLogger, Logger, MessageFirstLogger, NestLogger } from './observe/logger.ts'
export type { Observation, Observer } from './observe/observation.ts'
export type { BodyOptions } from './receiver/body-options.ts'
export type { ConcurrencyOptions } from './receiver/concurrency.ts'
export { createReceiver } from './receiver/create-receiver.ts'
export type { Effects, EffectsHost } from './receiver/effects.ts'
export type { IngestOptions, IngestResult } from './receiver/ingest.ts'
export type { ReceiverOptions } from './receiver/options.ts'
export type { DeadLetters, InNamespace, Receiver } from './receiver/receiver.ts'
export type { Expectation, ExpectEvery } from './receiver/silence.ts'
export type { Secret, SecretResolver, SecretSource } from './verify/secrets.ts'
export {
  type CheckOptions,
  type VerifiedRequest,
  type VerifyRequestOptions,
  verifyRequest,
} from './verify/verify-alone.ts'
export type { Failure, FailureHandler } from './worker/failure.ts'

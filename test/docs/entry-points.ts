/**
 * What a user calls to begin with each package, by what it is imported from. Each has an example in its docstring.
 */
export const ENTRY_POINTS: Readonly<Record<string, readonly string[]>> = {
  ackhook: ['run'],
  '@ackhook/core': [
    'createReceiver',
    'isEvent',
    'memoryInbox',
    'memoryStore',
    'NonRetryableError',
    'RetryAfterError',
    'toFetchHandler',
  ],
  '@ackhook/core/node': ['captureRawBody', 'toNodeHandler'],
  '@ackhook/express': ['webhooks'],
  '@ackhook/fastify': ['webhooks'],
  '@ackhook/hono': ['webhooks'],
  '@ackhook/redis': ['redisStore'],
  '@ackhook/sqlite': ['sqliteInbox'],
  '@ackhook/bullmq': ['bullmqInbox'],
  '@ackhook/opentelemetry': ['opentelemetry'],
  '@ackhook/testing': [
    'createEvent',
    'createSender',
    'fakeClock',
    'seededRandom',
    'sign',
    'signedRequest',
    'testReceiver',
  ],
  '@ackhook/testing/adapter-suite': ['adapterCases'],
  '@ackhook/testing/store-suite': ['storeSuite'],
  '@ackhook/testing/inbox-suite': ['inboxCases'],
}

/** Other functions and values: parts for authors of adapters, stores, inboxes and tools, and what the above answer. */
export const PARTS: Readonly<Record<string, readonly string[]>> = {
  ackhook: ['diagnose', 'fromDeliveryFile', 'readDelivery', 'toDeliveryFile'],
  '@ackhook/core': [
    'ABORT',
    'AckhookError',
    'CODES',
    'ConfigurationError',
    'Refusal',
    'createAttempt',
    'describeError',
    'durationMs',
    'eventKey',
    'parseSignatureHeader',
    'parseTimestamp',
    'readRequestBody',
    'replyTo',
    'resolveContract',
    'tapReceiver',
    'toReceiver',
    'withDeadline',
  ],
  '@ackhook/core/node': ['readRawBody', 'writeReply'],
  '@ackhook/express': ['captureRawBody'],
  '@ackhook/testing': ['formatTimestamp', 'post'],
  '@ackhook/testing/adapter-suite': ['adapterSuiteOptions'],
}

import { ConfigurationError, type DedupeStore, type Duration, type Inbox } from '@ackhook/core'
import { createPushInbox, type PushInbox } from '@ackhook/core/push'
import { durationMs, refuseUnknownNames } from '@ackhook/core/spi'
import type { SQSClient } from '@aws-sdk/client-sqs'
import { MAX_FIFO_DELAY_MS, sqsEngine } from './sqs-engine.ts'
import { SqsQueue } from './sqs-queue.ts'
import { SqsWorker } from './sqs-worker.ts'

/** Options of {@link sqsInbox}. */
export interface SqsInboxOptions {
  /** Your AWS SDK client. The inbox never destroys it. */
  readonly client: SQSClient
  /** Address of the queue, such as `https://sqs.eu-west-1.amazonaws.com/123456789012/webhooks`. Required: `undefined` is refused. */
  readonly queueUrl: string | undefined
  /**
   * Address of another queue of the same kind, for events that get no further attempt. `false`: they are not stored, and
   * only `onDeadLetter` receives them. Required: `undefined` is refused.
   */
  readonly deadLetters: string | false | undefined
  /**
   * Store of handled ids, such as `redisStore(client)`. Required unless `concurrency` is 0, because SQS may deliver an
   * event twice.
   */
  readonly store?: DedupeStore | undefined
  /** How long a claim lasts without renewal, and so how long a dead process's events wait. Default `'60s'`. */
  readonly lease?: Duration | undefined
  /**
   * Polls the queue from this process. Default `true`, except on AWS Lambda, which calls `toSqsHandler` instead. A
   * process with `concurrency: 0` only receives, and never polls.
   */
  readonly poll?: boolean | undefined
}

/** Inbox of {@link sqsInbox}, with fields for the rest of this package. */
export interface SqsInbox extends PushInbox {
  readonly queue: SqsQueue
  readonly polls: boolean
}

/**
 * Creates a durable inbox on Amazon SQS. The sender gets a 2xx once SQS has confirmed the event. A server then polls the
 * queue; on AWS Lambda, an event source calls the function that `toSqsHandler` returns. `serializeBy` needs a FIFO queue.
 * An event that does not fit into a message (1 MiB with its envelope) is refused with 413.
 *
 * Throws `ConfigurationError` for a wrong option.
 *
 * @example
 * import { SQSClient } from '@aws-sdk/client-sqs'
 *
 * const inbox = sqsInbox({
 *   client: new SQSClient(),
 *   queueUrl: process.env.QUEUE_URL,
 *   deadLetters: process.env.DEAD_LETTERS_URL,
 *   store: redisStore(redis),
 * })
 * const receiver = createReceiver({ secret: process.env.SIGNING_SECRET, inbox })
 */
export function sqsInbox(options: SqsInboxOptions): Inbox {
  refuseUnknownNames(options, NAMES, '', '{ client, queueUrl, deadLetters, store }')
  const { client, store } = options
  if (typeof client?.send !== 'function') throw new ConfigurationError('client', NO_CLIENT)
  const queue = queueAt('queueUrl', client, options.queueUrl)
  const deadLetters = options.deadLetters === false ? undefined : deadLettersOf(queue, options.deadLetters)
  const polls = options.poll ?? process.env['AWS_LAMBDA_FUNCTION_NAME'] === undefined
  const leaseMs = durationMs(options.lease ?? '60s', { option: 'lease', minMs: 3000, maxMs: LAMBDA_MS })
  const worker = polls ? new SqsWorker({ queue, inbox: () => inbox, leaseMs }) : undefined
  const pushed = createPushInbox({
    engine: sqsEngine({ queue, deadLetters, worker }),
    store,
    leaseMs,
    defaultRetry: {
      attempts: 8,
      minDelayMs: 5000,
      maxDelayMs: queue.isFifo ? MAX_FIFO_DELAY_MS : MAX_VISIBLE_MS,
      factor: 5,
    },
    ...(!queue.isFifo && { cannotSerialize: NO_ORDER }),
    cannotDiscardOlder: NO_RETENTION,
    checkOptions: checked => checkOptions(checked, queue, polls),
  })
  const statsBeforeStart = { statsBeforeStart: () => pushed.stats() }
  const inbox: SqsInbox = Object.assign(pushed, { queue, polls }, polls && statsBeforeStart)
  return inbox
}

type CheckedOptions = Parameters<NonNullable<Inbox['checkOptions']>>[0]

const NAMES = ['client', 'queueUrl', 'deadLetters', 'store', 'lease', 'poll']
/** Longest visibility timeout, including all extensions. */
const MAX_VISIBLE_MS = 43_200_000
/** Time limit of a Lambda function. */
const LAMBDA_MS = 900_000
const HOUR_MS = 3_600_000
const NO_CLIENT = 'must be an SQSClient of @aws-sdk/client-sqs: new SQSClient()'
const NO_RETENTION =
  'leave it out: SQS deletes messages itself. Set MessageRetentionPeriod of the queue of dead letters, to 14 days at most'
const NO_ORDER =
  'a standard queue delivers events in no particular order: use a FIFO queue, whose name ends in .fifo'

function queueAt(option: string, client: SQSClient, url: string | undefined): SqsQueue {
  if (typeof url === 'string' && /^https?:\/\/[^/]+\/.*[^/]$/.test(url)) return new SqsQueue(client, url)
  const fix = `must be the address of a queue, such as https://sqs.eu-west-1.amazonaws.com/123456789012/webhooks, not its name or ARN${option === 'deadLetters' ? ', or false to store no dead letters' : ''}; got ${url === undefined ? 'undefined' : `'${url}'`}`
  throw new ConfigurationError(option, fix)
}

function deadLettersOf(queue: SqsQueue, url: string | undefined): SqsQueue {
  const deadLetters = queueAt('deadLetters', queue.client, url)
  if (deadLetters.url === queue.url)
    throw new ConfigurationError('deadLetters', 'must be a different queue from queueUrl')
  if (deadLetters.isFifo === queue.isFifo) return deadLetters
  const kind = queue.isFifo ? 'a FIFO queue' : 'a standard queue'
  throw new ConfigurationError(
    'deadLetters',
    `must be ${kind}, like queueUrl: SQS moves messages only between queues of the same kind`,
  )
}

function checkOptions(
  { handlerTimeoutMs, retry, concurrency }: CheckedOptions,
  { isFifo }: SqsQueue,
  polls: boolean,
): void {
  if (concurrency === 0) return
  const [mostMs, fix] = longestHandler(isFifo, polls)
  if (handlerTimeoutMs >= mostMs) throw new ConfigurationError('handlerTimeout', fix)
  if (!isFifo || retry.maxDelayMs <= MAX_FIFO_DELAY_MS) return
  const why =
    "must be at most 11 hours: a FIFO queue keeps an event's place for 12 hours, including its attempt"
  throw new ConfigurationError('retry.maxDelay', why)
}

function longestHandler(isFifo: boolean, polls: boolean): readonly [number, string] {
  if (!polls) return [LAMBDA_MS, 'must be less than 15 minutes, after which Lambda ends a function']
  if (isFifo)
    return [
      HOUR_MS,
      'must be less than an hour: a FIFO queue hides an event for at most 12 hours, including its retry delay',
    ]
  return [11 * HOUR_MS, 'must be less than 11 hours: SQS hides an event for at most 12 hours']
}

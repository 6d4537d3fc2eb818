import { ConfigurationError, type DedupeStore, type Duration, type Inbox } from '@ackhook/core'
import { createPushInbox, type PushInbox } from '@ackhook/core/push'
import { durationMs, refuseUnknownNames } from '@ackhook/core/spi'
import type { SQSClient } from '@aws-sdk/client-sqs'
import { MAX_FIFO_DELAY_MS, sqsEngine } from './sqs-engine.ts'
import { SqsQueue } from './sqs-queue.ts'
import { SqsWorker } from './sqs-worker.ts'

/** Options of {@link sqsInbox}. */
export interface SqsInboxOptions {
  /** Your client of the AWS SDK. The inbox never destroys it. */
  readonly client: SQSClient
  /** Address of the queue, such as `https://sqs.eu-west-1.amazonaws.com/123456789012/webhooks`. Required: `undefined` is refused. */
  readonly queueUrl: string | undefined
  /**
   * Address of another queue of the same kind, for events that get no further attempt. `false`: nothing keeps them, and
   * `onDeadLetter` is the last to see them. Required: `undefined` is refused.
   */
  readonly deadLetters: string | false | undefined
  /**
   * Store of handled ids, such as `redisStore(client)`. Required unless `concurrency` is 0, because SQS may hand out an
   * event twice.
   */
  readonly store?: DedupeStore | undefined
  /** How long a claim holds without being renewed, and so how long the events of a process that died wait. Default `'60s'`. */
  readonly lease?: Duration | undefined
  /**
   * Polls the queue from this process. Default `true`, except on AWS Lambda, which calls `toSqsHandler` instead. A
   * process with `concurrency: 0` only receives, and never polls.
   */
  readonly poll?: boolean | undefined
}

/** The inbox of {@link sqsInbox}, as the rest of this package sees it. */
export interface SqsInbox extends PushInbox {
  readonly queue: SqsQueue
  readonly polls: boolean
}

/**
 * The durable inbox on Amazon SQS. A 2xx follows once SQS has confirmed the event. A server then polls the queue; on AWS
 * Lambda, an event source calls the function that `toSqsHandler` makes. `serializeBy` needs a FIFO queue. An event that does not
 * fit into a message, 1 MiB with its envelope, is refused with 413.
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
    checkOptions: checked => checkOptions(checked, queue, polls),
  })
  const inbox: SqsInbox = Object.assign(pushed, { queue, polls })
  return inbox
}

type CheckedOptions = Parameters<NonNullable<Inbox['checkOptions']>>[0]

const NAMES = ['client', 'queueUrl', 'deadLetters', 'store', 'lease', 'poll']
/** Longest visibility timeout, all extensions included. */
const MAX_VISIBLE_MS = 43_200_000
/** Lambda ends a function after so long. */
const LAMBDA_MS = 900_000
const HOUR_MS = 3_600_000
const NO_CLIENT = 'must be an SQSClient of @aws-sdk/client-sqs: new SQSClient()'
const NO_ORDER = 'a standard queue hands out events in no order: use a FIFO queue, whose name ends in .fifo'

function queueAt(option: string, client: SQSClient, url: string | undefined): SqsQueue {
  if (typeof url === 'string' && /^https?:\/\/[^/]+\/.*[^/]$/.test(url)) return new SqsQueue(client, url)
  const fix = `must be the address of a queue, such as https://sqs.eu-west-1.amazonaws.com/123456789012/webhooks, and neither its name nor its ARN${option === 'deadLetters' ? ', or false if nothing is to keep events without a further attempt' : ''}; got ${url === undefined ? 'undefined' : `'${url}'`}`
  throw new ConfigurationError(option, fix)
}

function deadLettersOf(queue: SqsQueue, url: string | undefined): SqsQueue {
  const deadLetters = queueAt('deadLetters', queue.client, url)
  if (deadLetters.url === queue.url)
    throw new ConfigurationError('deadLetters', 'must be another queue than queueUrl')
  if (deadLetters.isFifo === queue.isFifo) return deadLetters
  const kind = queue.isFifo ? 'a FIFO queue' : 'a standard queue'
  throw new ConfigurationError(
    'deadLetters',
    `must be ${kind}, as queueUrl is: SQS moves messages between queues of one kind only`,
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
    'must be 11 hours at most: a FIFO queue keeps the place of an event for 12 hours, its attempt included'
  throw new ConfigurationError('retry.maxDelay', why)
}

function longestHandler(isFifo: boolean, polls: boolean): readonly [number, string] {
  if (!polls) return [LAMBDA_MS, 'must be less than 15 minutes, after which Lambda ends a function']
  if (isFifo)
    return [
      HOUR_MS,
      'must be less than an hour: with the delay after it, a FIFO queue hides an event for 12 hours at most',
    ]
  return [11 * HOUR_MS, 'must be less than 11 hours: SQS hides an event for 12 hours at most']
}

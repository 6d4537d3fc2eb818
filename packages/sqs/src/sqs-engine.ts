import { AckhookError, ConfigurationError, type InboxStats } from '@ackhook/core'
import { withAdvice } from '@ackhook/core/advice'
import type { PushEngine } from '@ackhook/core/push'
import type { ProcessingPolicy } from '@ackhook/core/spi'
import { sizeOfText } from './message-text.ts'
import type { SqsQueue } from './sqs-queue.ts'
import type { SqsWorker } from './sqs-worker.ts'

/** Size limit of a message, unless the queue's own limit is lower. */
const MAX_BYTES = 1_048_576
/** Longest `DelaySeconds`. */
const MAX_DELAY_MS = 900_000
/** Longest delay on FIFO, where it is a visibility timeout: at most 12 hours, including the attempt before it. */
export const MAX_FIFO_DELAY_MS = 39_600_000
/** Number of deliveries of a message that may end with their process before the event is given up. */
const CRASHES = 8
/** Recommended `maxReceiveCount`: the receiver's own counts end an event, and only runs count there. */
const ROOMY = 100

export interface SqsEngineParts {
  readonly queue: SqsQueue
  readonly deadLetters: SqsQueue | undefined
  /** Absent if Lambda polls the queue. */
  readonly worker: SqsWorker | undefined
}

/** Implements core's push engine with SQS. */
export function sqsEngine({ queue, deadLetters, worker }: SqsEngineParts): PushEngine {
  let maxBytes = MAX_BYTES
  return {
    location: `SQS queue '${queue.name}'`,
    get maxBytes() {
      return maxBytes
    },
    sizeOf: sizeOfText,
    maxDelayMs: queue.isFifo ? MAX_FIFO_DELAY_MS : MAX_DELAY_MS,
    inOrder: queue.isFifo,
    publish: (message, publication) => queue.send(message, publication),
    ...(deadLetters && { keepDead: (message, publication) => deadLetters.send(message, publication) }),
    async start(policy) {
      const settings = await readSettings(queue, policy)
      maxBytes = Math.min(MAX_BYTES, Number(settings['MaximumMessageSize'] ?? MAX_BYTES))
      if (policy.concurrency === 0) return
      checkRedrive(settings['RedrivePolicy'], queue, policy)
      worker?.start(policy)
    },
    stop: () => worker?.stop(),
    stats: () => statsOf(queue, deadLetters),
  }
}

async function readSettings(
  queue: SqsQueue,
  { logger }: ProcessingPolicy,
): Promise<Partial<Record<string, string>>> {
  try {
    return await queue.attributes(['MaximumMessageSize', 'RedrivePolicy'])
  } catch (cause) {
    const { name } = cause as Error
    if (name === 'QueueDoesNotExist')
      throw new ConfigurationError('queueUrl', `SQS has no queue ${queue.url}`, { cause })
    if (!name.startsWith('AccessDenied')) {
      const problem = `SQS does not serve the queue '${queue.name}'`
      throw new AckhookError('inbox_unavailable', withAdvice(problem, cause, 'sqs'), { cause })
    }
    logger.warn({ code: 'queue_settings_unknown' }, UNKNOWN)
    return {}
  }
}

/**
 * Warns of a low `maxReceiveCount`. SQS counts every delivery: each crash, each attempt of a FIFO queue, and also the
 * deliveries that a throttled function never began.
 */
function checkRedrive(
  json: string | undefined,
  { isFifo, name }: SqsQueue,
  { logger, retry }: ProcessingPolicy,
): void {
  const { maxReceiveCount = Number.POSITIVE_INFINITY } = JSON.parse(json || '{}') as {
    maxReceiveCount?: number
  }
  const needed = isFifo ? retry.attempts + CRASHES : CRASHES
  if (Number(maxReceiveCount) > needed) return
  const message = `Queue '${name}' has a maxReceiveCount of ${maxReceiveCount}, so SQS may move events to its own dead-letter queue early, without calling onDeadLetter. SQS also counts deliveries that began nothing, as with a throttled function: set it to ${ROOMY} or more.`
  logger.warn({ code: 'queue_may_give_up' }, message)
}

const UNKNOWN =
  "The queue's settings cannot be read, so a lower MaximumMessageSize or maxReceiveCount goes unnoticed: allow sqs:GetQueueAttributes."

/** Returns SQS's approximate counts. SQS reports the age of the oldest message only to CloudWatch. */
async function statsOf(queue: SqsQueue, deadLetters: SqsQueue | undefined): Promise<InboxStats> {
  const [own, dead] = await Promise.all([
    queue.attributes([
      'ApproximateNumberOfMessages',
      'ApproximateNumberOfMessagesDelayed',
      'ApproximateNumberOfMessagesNotVisible',
    ]),
    deadLetters?.attributes(['ApproximateNumberOfMessages']),
  ])
  const count = (from: typeof own | undefined, kind = ''): number =>
    Number(from?.[`ApproximateNumberOfMessages${kind}`] ?? 0)
  return {
    pending: count(own) + count(own, 'Delayed'),
    active: count(own, 'NotVisible'),
    dead: count(dead),
    oldestPendingMs: 0,
  }
}

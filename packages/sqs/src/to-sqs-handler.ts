import { ConfigurationError, type Receiver } from '@ackhook/core'
import { inspectReceiver } from '@ackhook/core/spi'
import { settle } from './settle.ts'
import type { SqsInbox } from './sqs-inbox.ts'

/** Batch that Lambda passes to a function. */
export interface SqsBatch {
  readonly Records: readonly SqsRecord[]
}

/** One message of a {@link SqsBatch}. */
export interface SqsRecord {
  readonly messageId: string
  readonly receiptHandle: string
  readonly body: string
  readonly attributes: {
    readonly ApproximateReceiveCount: string
    readonly MessageGroupId?: string | undefined
  }
}

/** Reply that names the messages that SQS must keep. */
export interface SqsBatchResponse {
  readonly batchItemFailures: { readonly itemIdentifier: string }[]
}

/** Handler of a Lambda function. */
export type SqsHandler = (batch: SqsBatch) => Promise<SqsBatchResponse>

/**
 * Turns a receiver into a Lambda function behind its queue. It runs a batch's events, `concurrency` at a time, and those of
 * a FIFO group one after another. The reply names the messages that SQS must keep, so the event source needs
 * `FunctionResponseTypes: [ReportBatchItemFailures]`: without it, Lambda deletes them.
 *
 * @example
 * export const handler = toSqsHandler(receiver)
 */
export function toSqsHandler(receiver: Pick<Receiver<never, never>, 'start'>): SqsHandler {
  const { inbox: used, logger } = inspectReceiver(receiver)
  if (!('queue' in used)) throw new ConfigurationError('inbox', NOT_SQS)
  const inbox = used as SqsInbox
  if (inbox.polls) throw new ConfigurationError('poll', POLLS)
  const { queue } = inbox

  /** Returns the messages to keep: on FIFO the first that failed and all after it, so that the group keeps its order. */
  async function runGroup(records: readonly SqsRecord[]): Promise<readonly SqsRecord[]> {
    for (const [index, record] of records.entries()) {
      if (await settle(received(record), inbox, queue)) continue
      const behind = records.slice(index + 1)
      if (behind.length > 0) logger.warn({ code: 'fifo_batch' }, FIFO_BATCH)
      for (const { receiptHandle } of behind) await queue.postpone(receiptHandle, 0)
      return [record, ...behind]
    }
    return []
  }

  return async ({ Records }) => {
    await receiver.start()
    // After a successful call, Lambda deletes every message that the reply does not name.
    if (inbox.concurrency === 0) throw new ConfigurationError('concurrency', ONLY_RECEIVES)
    const groups = groupsOf(Records, queue.isFifo)
    const kept: SqsRecord[] = []
    const waiting = groups.values()
    const work = async (): Promise<void> => {
      for (const group of waiting) kept.push(...(await runGroup(group)))
    }
    await Promise.all(Array.from({ length: Math.min(groups.length, inbox.concurrency) }, work))
    return { batchItemFailures: kept.map(({ messageId }) => ({ itemIdentifier: messageId })) }
  }
}

const NOT_SQS = 'must be sqsInbox(…): no other inbox gets events from SQS'
const POLLS = 'must be false with toSqsHandler: Lambda polls the queue itself'
const ONLY_RECEIVES = 'must not be 0 in the function that handles events'
const FIFO_BATCH =
  "An event failed, so the events behind it in its FIFO group were returned to the queue without an attempt. SQS counts that as an attempt: set the event source's BatchSize to 1."

/** Groups a batch. On a standard queue each message is its own group, even if group ids make it a fair queue. */
function groupsOf(records: readonly SqsRecord[], isFifo: boolean): readonly (readonly SqsRecord[])[] {
  if (!isFifo) return records.map(record => [record])
  const groups = new Map<string, SqsRecord[]>()
  for (const record of records) {
    const id = record.attributes.MessageGroupId ?? ''
    const group = groups.get(id)
    if (group === undefined) groups.set(id, [record])
    else group.push(record)
  }
  return [...groups.values()]
}

function received({ messageId, receiptHandle, body, attributes }: SqsRecord) {
  return { id: messageId, receiptHandle, text: body, receiveCount: attributes.ApproximateReceiveCount }
}

import type { PushInbox } from '@ackhook/core/push'
import { fromText } from './message-text.ts'
import type { SqsQueue } from './sqs-queue.ts'

/** A message as the worker or the Lambda function receives it. */
export interface ReceivedMessage {
  readonly id: string
  readonly receiptHandle: string
  readonly text: string
  /** `ApproximateReceiveCount`. */
  readonly receiveCount: string
}

/** Runs one attempt at a message. Returns false if SQS is to deliver it again, after the delay set here. */
export async function settle(
  { id, receiptHandle, text, receiveCount }: ReceivedMessage,
  { consume }: Pick<PushInbox, 'consume'>,
  queue: SqsQueue,
): Promise<boolean> {
  const outcome = await consume({ id, body: fromText(text), deliveries: Number(receiveCount) || 1 })
  if (outcome.outcome === 'done') return true
  await queue.postpone(receiptHandle, outcome.delayMs)
  return false
}

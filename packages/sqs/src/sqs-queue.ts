import { createHash } from 'node:crypto'
import type { Publication } from '@ackhook/core/push'
import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  type QueueAttributeName,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { toText } from './message-text.ts'

/** Calls that take longer are given up, so that none holds a connection for ever. */
const CALL_MS = 10_000
const GROUP_ID = /^[!-~]{1,128}$/

/** One queue of SQS, standard or FIFO. */
export class SqsQueue {
  readonly client: SQSClient
  readonly url: string
  readonly name: string
  readonly isFifo: boolean

  constructor(client: SQSClient, url: string) {
    this.client = client
    this.url = url
    this.name = url.slice(url.lastIndexOf('/') + 1)
    this.isFifo = url.endsWith('.fifo')
  }

  /** Resolves when SQS has confirmed the message. */
  async send(message: Uint8Array, { delayMs, group }: Publication): Promise<void> {
    const about = this.isFifo ? inGroup(group) : { DelaySeconds: toSeconds(delayMs) }
    const command = new SendMessageCommand({ QueueUrl: this.url, MessageBody: toText(message), ...about })
    await this.client.send(command, deadline())
  }

  /** Lets SQS hand a message out again after a delay. */
  async postpone(receiptHandle: string, delayMs: number): Promise<void> {
    const VisibilityTimeout = toSeconds(delayMs)
    const about = { QueueUrl: this.url, ReceiptHandle: receiptHandle, VisibilityTimeout }
    try {
      await this.client.send(new ChangeMessageVisibilityCommand(about), deadline())
    } catch {
      // SQS hands it out all the same, when the visibility timeout of the queue is over.
    }
  }

  async attributes(names: QueueAttributeName[]): Promise<Partial<Record<string, string>>> {
    const command = new GetQueueAttributesCommand({ QueueUrl: this.url, AttributeNames: names })
    const { Attributes: attributes = {} } = await this.client.send(command, deadline())
    return attributes
  }
}

/**
 * Names a message anew each time: SQS drops a second one of the same name for five minutes, and that would lose the redelivery
 * of a dead letter. Calls that the client repeats by itself keep their name.
 */
function inGroup(group: string): { MessageGroupId: string; MessageDeduplicationId: string } {
  const id = GROUP_ID.test(group) ? group : createHash('sha256').update(group).digest('hex')
  return { MessageGroupId: id, MessageDeduplicationId: crypto.randomUUID() }
}

function deadline(): { abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.timeout(CALL_MS) }
}

/** SQS counts in whole seconds. */
function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000)
}

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

/** Time limit of a call, so that none holds a connection forever. */
const CALL_MS = 10_000
const GROUP_ID = /^[!-~]{1,128}$/

/** An SQS queue, standard or FIFO. */
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

  /** Sends a message. Resolves once SQS has confirmed it. */
  async send(message: Uint8Array, { delayMs, group }: Publication): Promise<void> {
    const about = this.isFifo ? inGroup(group) : { DelaySeconds: toSeconds(delayMs) }
    const command = new SendMessageCommand({ QueueUrl: this.url, MessageBody: toText(message), ...about })
    await this.client.send(command, deadline())
  }

  /** Makes SQS deliver a message again after a delay. */
  async postpone(receiptHandle: string, delayMs: number): Promise<void> {
    const VisibilityTimeout = toSeconds(delayMs)
    const about = { QueueUrl: this.url, ReceiptHandle: receiptHandle, VisibilityTimeout }
    try {
      await this.client.send(new ChangeMessageVisibilityCommand(about), deadline())
    } catch {
      // SQS delivers it anyway, after the message's visibility timeout.
    }
  }

  async attributes(names: QueueAttributeName[]): Promise<Partial<Record<string, string>>> {
    const command = new GetQueueAttributesCommand({ QueueUrl: this.url, AttributeNames: names })
    const { Attributes: attributes = {} } = await this.client.send(command, deadline())
    return attributes
  }
}

/**
 * Returns a group and a new deduplication id: SQS drops a second message with the same id for five minutes, which would
 * lose a redelivered dead letter. Calls that the client itself repeats keep their id.
 */
function inGroup(group: string): { MessageGroupId: string; MessageDeduplicationId: string } {
  const id = GROUP_ID.test(group) ? group : createHash('sha256').update(group).digest('hex')
  return { MessageGroupId: id, MessageDeduplicationId: crypto.randomUUID() }
}

function deadline(): { abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.timeout(CALL_MS) }
}

/** Rounds up to whole seconds, in which SQS counts. */
function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000)
}

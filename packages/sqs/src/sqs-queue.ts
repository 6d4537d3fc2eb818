import { createHash } from 'node:crypto'
import type { Publication } from '@ackhook/core/push'
import { withDeadline } from '@ackhook/core/spi'
import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  type QueueAttributeName,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { toText } from './message-text.ts'

/** Time limit of a call, its retries by the client included: SQS takes milliseconds. */
const CALL_MS = 5000
/** Time that a poll may take longer than SQS was asked to wait. */
const POLL_MARGIN_MS = 2000
/** Length of a poll after one without a reply: each may use one more of the client's silent connections. */
const PROBE_SECONDS = 1
const GROUP_ID = /^[!-~]{1,128}$/

/** An SQS queue, standard or FIFO. Each of its calls ends, also on a network that swallows everything. */
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
    await this.#call('SendMessage', options => this.client.send(command, options))
  }

  /** Makes SQS deliver a message again after a delay. */
  async postpone(receiptHandle: string, delayMs: number): Promise<void> {
    const VisibilityTimeout = toSeconds(delayMs)
    const about = { QueueUrl: this.url, ReceiptHandle: receiptHandle, VisibilityTimeout }
    try {
      await this.#call('ChangeMessageVisibility', options =>
        this.client.send(new ChangeMessageVisibilityCommand(about), options),
      )
    } catch {
      // SQS delivers it anyway, after the message's visibility timeout.
    }
  }

  async attributes(names: QueueAttributeName[]): Promise<Partial<Record<string, string>>> {
    const command = new GetQueueAttributesCommand({ QueueUrl: this.url, AttributeNames: names })
    const { Attributes: attributes = {} } = await this.#call('GetQueueAttributes', options =>
      this.client.send(command, options),
    )
    return attributes
  }

  /**
   * Returns the client for a consumer that polls this queue, with a time limit on each call. After a poll without a reply,
   * the next ones are short until one is answered.
   */
  pollingClient(): Pick<SQSClient, 'send'> {
    const { client } = this
    const sendBy = client.send.bind(client) as (command: object, options: CallOptions) => Promise<unknown>
    let isSilent = false
    const poll = async ({ input }: ReceiveMessageCommand, signal: AbortSignal | undefined) => {
      const seconds = Math.min(
        input.WaitTimeSeconds ?? 0,
        isSilent ? PROBE_SECONDS : Number.POSITIVE_INFINITY,
      )
      const command = new ReceiveMessageCommand({ ...input, WaitTimeSeconds: seconds })
      const limits = { signal, ms: seconds * 1000 + POLL_MARGIN_MS }
      isSilent = true
      const reply = await this.#call('ReceiveMessage', options => sendBy(command, options), limits)
      isSilent = false
      return reply
    }
    const send = (command: object, { abortSignal: signal }: Partial<CallOptions> = {}): Promise<unknown> =>
      command instanceof ReceiveMessageCommand
        ? poll(command, signal)
        : this.#call(command.constructor.name, options => sendBy(command, options), { signal })
    return { send } as Pick<SQSClient, 'send'>
  }

  async #call<Reply>(
    operation: string,
    call: (options: CallOptions) => Promise<Reply>,
    { ms = CALL_MS, signal }: { readonly ms?: number; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Reply> {
    const timeout = new AbortController()
    const abortSignal = signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal])
    try {
      const limits = { operation: `${operation} of SQS queue '${this.name}'`, ms }
      return await withDeadline(call({ abortSignal }), limits)
    } catch (error) {
      // Frees the connection, which the client would keep for its next calls.
      timeout.abort()
      throw error
    }
  }
}

interface CallOptions {
  readonly abortSignal: AbortSignal
}

/**
 * Returns a group and a new deduplication id: SQS drops a second message with the same id for five minutes, which would
 * lose a redelivered dead letter. Calls that the client itself repeats keep their id.
 */
function inGroup(group: string): { MessageGroupId: string; MessageDeduplicationId: string } {
  const id = GROUP_ID.test(group) ? group : createHash('sha256').update(group).digest('hex')
  return { MessageGroupId: id, MessageDeduplicationId: crypto.randomUUID() }
}

/** Rounds up to whole seconds, in which SQS counts. */
function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000)
}

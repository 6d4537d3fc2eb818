import { randomUUID } from 'node:crypto'
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { buildApp } from 'fauxqs'

/**
 * SQS on this machine. Differences between fauxqs 1.9 and SQS, for authors of tests:
 * - `startFauxqs` listens on every interface; this listens on the loopback address.
 * - It delivers one message of a FIFO group at a time, SQS several.
 * - It refuses characters above U+FFFF, which SQS allows.
 * - A poll whose client is gone always takes a message with it; in SQS, it may.
 * - A message can be hidden for longer than 12 hours in total.
 */
export interface SqsServer {
  readonly client: SQSClient
  readonly endpoint: string
  /** Environment variables with which an `SQSClient` of another process finds it, with `useQueueUrlAsEndpoint: false`. */
  readonly environment: Readonly<Record<string, string>>
  /** Creates a queue with a new name; FIFO if the name ends in `.fifo`. Returns its address. */
  createQueue(name?: string, attributes?: Record<string, string>): Promise<string>
  /** Recreates a queue that another server had at this address. */
  createAgain(queueUrl: string): Promise<void>
  arnOf(queueUrl: string): Promise<string>
  /** Sends a message. `group`: required for FIFO. */
  sendText(queueUrl: string, text: string, group?: string): Promise<void>
  /** Receives up to ten messages, like a consumer. */
  take(queueUrl: string, visibilityTimeout?: number): Promise<Message[]>
  remove(queueUrl: string, message: Message): Promise<void>
  giveBack(queueUrl: string, message: Message): Promise<void>
  /** Returns the number of messages in the queue, including delayed and hidden ones. */
  count(queueUrl: string): Promise<number>
  stop(): Promise<void>
}

let queues = 0

/** Starts a server. `port`: that of a stopped server, whose queues are gone. */
export async function startSqs(port = 0): Promise<SqsServer> {
  const app = buildApp({ logger: false })
  const endpoint = await app.listen({ host: '127.0.0.1', port })
  const client = sqsClientAt(endpoint)
  const attributesOf = async (QueueUrl: string): Promise<Partial<Record<string, string>>> => {
    const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] })
    return (await client.send(command)).Attributes ?? {}
  }
  return {
    client,
    endpoint,
    environment: {
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'any',
      AWS_SECRET_ACCESS_KEY: 'any',
    },
    async createQueue(name = 'events', attributes = {}) {
      const [, base, fifo = ''] = /^(.*?)(\.fifo)?$/.exec(name) ?? []
      const kind = fifo === '' ? {} : { FifoQueue: 'true' }
      const command = new CreateQueueCommand({
        QueueName: `${base}-${queues++}${fifo}`,
        Attributes: { ...kind, ...attributes },
      })
      return (await client.send(command)).QueueUrl ?? ''
    },
    async createAgain(queueUrl) {
      await client.send(new CreateQueueCommand({ QueueName: queueUrl.slice(queueUrl.lastIndexOf('/') + 1) }))
    },
    arnOf: async queueUrl => (await attributesOf(queueUrl))['QueueArn'] ?? '',
    async sendText(QueueUrl, MessageBody, MessageGroupId = 'a') {
      const order = QueueUrl.endsWith('.fifo') && { MessageGroupId, MessageDeduplicationId: randomUUID() }
      await client.send(new SendMessageCommand({ QueueUrl, MessageBody, ...order }))
    },
    async take(QueueUrl, VisibilityTimeout = 30) {
      const about = { QueueUrl, VisibilityTimeout, MaxNumberOfMessages: 10 }
      const command = new ReceiveMessageCommand({ ...about, MessageSystemAttributeNames: ['All'] })
      return (await client.send(command)).Messages ?? []
    },
    async remove(QueueUrl, { ReceiptHandle }) {
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
    },
    async giveBack(QueueUrl, { ReceiptHandle }) {
      const about = { QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }
      await client.send(new ChangeMessageVisibilityCommand(about))
    },
    async count(queueUrl) {
      const attributes = await attributesOf(queueUrl)
      const kinds = ['', 'Delayed', 'NotVisible']
      return kinds.reduce((sum, kind) => sum + Number(attributes[`ApproximateNumberOfMessages${kind}`]), 0)
    },
    async stop() {
      client.destroy()
      await app.close()
    },
  }
}

/** Creates a client for {@link startSqs}, also for another process. */
export function sqsClientAt(endpoint: string): SQSClient {
  return new SQSClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  })
}

import type { PushInbox } from '@ackhook/core/push'
import type { ProcessingPolicy } from '@ackhook/core/spi'
import type { SQSClient } from '@aws-sdk/client-sqs'
import { Consumer } from 'sqs-consumer'
import { type ReceivedMessage, settle } from './settle.ts'
import type { SqsQueue } from './sqs-queue.ts'

/** Most polls at a time, whatever the concurrency: each holds a connection and costs money. */
const MAX_POLLS = 4
/** Length of a poll. Short, because stopping waits for it: a message sent to an aborted poll is hidden for a while. */
const POLL_SECONDS = 5
const LONGEST_POLL_MS = 7000
/** Pause after a failed poll. */
const PAUSE_MS = 1000

export interface SqsWorkerParts {
  readonly queue: SqsQueue
  readonly inbox: () => Pick<PushInbox, 'consume'>
  readonly leaseMs: number
}

/** Polls a queue, one message per free slot: no event waits for a slow one, and no other of a FIFO group is taken early. */
export class SqsWorker {
  readonly #parts: SqsWorkerParts
  readonly #consumers: Consumer[] = []
  readonly #waiting: (() => void)[] = []
  #freePolls = MAX_POLLS
  /** Polls whose messages, if any, are not settled yet. */
  #open = 0
  /** Open polls that have no reply yet. */
  #polling = 0
  #isStopping = false
  #whenIdle: (() => void) | undefined

  constructor(parts: SqsWorkerParts) {
    this.#parts = parts
  }

  start({ concurrency, observe }: Pick<ProcessingPolicy, 'concurrency' | 'observe'>): void {
    for (let slot = 0; slot < concurrency; slot++) {
      const consumer = this.#createConsumer()
      consumer.on('empty', () => this.#closeCycle())
      consumer.on('response_processed', () => this.#closeCycle())
      consumer.on('error', (error, message) => {
        const hasMessage = message !== undefined
        if (!this.#isStopping || hasMessage)
          observe({ kind: 'store_down', operation: hasMessage ? 'settle' : 'receive', error })
        if (hasMessage) return
        this.#endPoll(PAUSE_MS)
        this.#closeCycle()
      })
      this.#consumers.push(consumer)
      consumer.start()
    }
  }

  /** Stops polling. Resolves once polls have ended, and each received message is deleted or returned to the queue. */
  async stop(): Promise<void> {
    this.#isStopping = true
    for (const consumer of this.#consumers) consumer.stop()
    await this.#idle(() => this.#open === 0, LONGEST_POLL_MS)
    // A poll without a reply by now never gets one.
    await this.#idle(() => this.#open === this.#polling)
  }

  #createConsumer(): Consumer {
    const { queue, leaseMs } = this.#parts
    return Consumer.create({
      queueUrl: queue.url,
      sqs: queue.pollingClient() as SQSClient,
      // Its own pause after a refusal comes on top of ours.
      authenticationErrorTimeout: PAUSE_MS,
      waitTimeSeconds: POLL_SECONDS,
      // Longer than the lease, so that a message redelivered after a crash finds its lease expired.
      visibilityTimeout: Math.ceil((leaseMs * 1.5) / 1000),
      heartbeatInterval: Math.floor(leaseMs / 3000),
      messageSystemAttributeNames: ['ApproximateReceiveCount'],
      suppressFifoWarning: true,
      preReceiveMessageCallback: () => this.#beginPoll(),
      postReceiveMessageCallback: async () => this.#endPoll(0),
      handleMessage: async message => {
        const { MessageId: id = '', ReceiptHandle: receiptHandle = '', Body: text = '', Attributes } = message
        const receiveCount = Attributes?.ApproximateReceiveCount ?? '1'
        const isDone = await this.#settle({ id, receiptHandle, text, receiveCount })
        return isDone ? message : undefined
      },
    })
  }

  async #settle(message: ReceivedMessage): Promise<boolean> {
    const { queue, inbox } = this.#parts
    if (!this.#isStopping || !queue.isFifo) return settle(message, inbox(), queue)
    // The message keeps its place, and returns once this process no longer polls: SQS counts each delivery.
    await queue.postpone(message.receiptHandle, POLL_SECONDS * 1000)
    return false
  }

  async #beginPoll(): Promise<void> {
    if (this.#freePolls === 0) await new Promise<void>(resolve => this.#waiting.push(resolve))
    else this.#freePolls--
    this.#open++
    this.#polling++
  }

  #endPoll(pauseMs: number): void {
    this.#polling--
    if (pauseMs > 0) setTimeout(() => this.#freePoll(), pauseMs).unref()
    else this.#freePoll()
  }

  #freePoll(): void {
    if (this.#isStopping) return
    const next = this.#waiting.shift()
    if (next === undefined) this.#freePolls++
    else next()
  }

  #closeCycle(): void {
    this.#open--
    this.#whenIdle?.()
  }

  /** Waits until `isIdle` returns true, for at most `limitMs`. */
  async #idle(isIdle: () => boolean, limitMs?: number): Promise<void> {
    if (isIdle()) return
    await new Promise<void>(resolve => {
      const timer = limitMs === undefined ? undefined : setTimeout(resolve, limitMs)
      this.#whenIdle = () => {
        if (!isIdle()) return
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

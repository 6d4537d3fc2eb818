import { ConfigurationError, type Logger, type Receiver } from '@ackhook/core'
import { inspectReceiver, onceAMinute, settlesWithin } from '@ackhook/core/spi'
import { type ReceivedMessage, settle } from './settle.ts'
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

/** What the handler uses of Lambda's context. */
export interface SqsContext {
  getRemainingTimeInMillis(): number
}

/** Reply that names the messages that SQS must keep. */
export interface SqsBatchResponse {
  readonly batchItemFailures: { readonly itemIdentifier: string }[]
}

/** Handler of a Lambda function. */
export type SqsHandler = (batch: SqsBatch, context?: SqsContext) => Promise<SqsBatchResponse>

/**
 * Turns a receiver into a Lambda function behind its queue. It runs a batch's events, `concurrency` at a time, and those of
 * a FIFO group one after another. The reply names the messages that SQS must keep, so the event source needs
 * `FunctionResponseTypes: [ReportBatchItemFailures]`: without it, Lambda deletes them.
 *
 * An event begins only if `handlerTimeout` and three seconds fit into the function's remaining time. The others return to
 * the queue, which costs them no attempt.
 *
 * @example
 * export const handler = toSqsHandler(receiver)
 */
export function toSqsHandler(receiver: Pick<Receiver<never, never>, 'start'>): SqsHandler {
  const { inbox: used, logger } = inspectReceiver(receiver)
  if (!('queue' in used)) throw new ConfigurationError('inbox', NOT_SQS)
  const inbox = used as SqsInbox
  if (inbox.polls) throw new ConfigurationError('poll', POLLS)
  // Shared by all calls: each of many batches may have the same to tell.
  const report: Report = onceAMinute(({ level, text, fields }, more, _, code) =>
    logger[level]({ code, ...fields }, `${text}${more}`),
  )
  return async (batch, context) => {
    const records = recordsOf(batch)
    await receiver.start()
    // After a successful call, Lambda deletes every message that the reply does not name.
    if (inbox.concurrency === 0) throw new ConfigurationError('concurrency', ONLY_RECEIVES)
    return new BatchRun(inbox, report, context).run(records)
  }
}

/** Reports a code at once, then once a minute. */
type Report = (code: string, line: { level: keyof Logger; text: string; fields?: object }) => void

/** A record whose fields are as documented. */
interface Readable extends ReceivedMessage {
  readonly group: string
}

/** One call of the function. */
class BatchRun {
  readonly #inbox: SqsInbox
  readonly #report: Report
  readonly #context: SqsContext | undefined
  readonly #kept: string[] = []
  /** Records that did not fit into the remaining time. */
  readonly #late: Readable[] = []
  #begun = 0

  constructor(inbox: SqsInbox, report: Report, context: SqsContext | undefined) {
    this.#inbox = inbox
    this.#report = report
    this.#context = context
  }

  async run(records: readonly unknown[]): Promise<SqsBatchResponse> {
    const readable = records.map(one => this.#read(one)).filter(one => one !== undefined)
    const groups = groupsOf(readable, this.#inbox.queue.isFifo)
    const waiting = groups.values()
    const work = async (): Promise<void> => {
      for (const group of waiting) await this.#runGroup(group)
    }
    await Promise.all(Array.from({ length: Math.min(groups.length, this.#inbox.concurrency) }, work))
    await this.#returnLate(readable.length)
    return { batchItemFailures: this.#kept.map(itemIdentifier => ({ itemIdentifier })) }
  }

  /** Keeps a record of another shape: nobody can tell whether its message is an event. */
  #read(record: unknown): Readable | undefined {
    const about = readRecord(record)
    if (typeof about !== 'string') return about
    this.#report('record_unreadable', { level: 'error', text: UNREADABLE, fields: { message: about } })
    // Lambda takes an empty identifier for a failure of the whole batch, which SQS then delivers again.
    this.#kept.push(about)
    return undefined
  }

  /** Keeps, on FIFO, the first record that failed and all after it, so that the group stays in order. */
  async #runGroup(records: readonly Readable[]): Promise<void> {
    const { queue } = this.#inbox
    for (const [index, record] of records.entries()) {
      const rest = records.slice(index)
      if (this.#remainingMs() < this.#inbox.longestMs) {
        this.#late.push(...rest)
        this.#keep(rest)
        return
      }
      this.#begun++
      if (await settle(record, this.#inbox, queue)) continue
      this.#keep(rest)
      const behind = rest.slice(1)
      if (behind.length > 0) this.#report('fifo_batch', { level: 'warn', text: FIFO_BATCH })
      await Promise.all(behind.map(({ receiptHandle }) => queue.postpone(receiptHandle, 0)))
      return
    }
  }

  #keep(records: readonly Readable[]): void {
    for (const { id } of records) this.#kept.push(id)
  }

  /** Makes SQS deliver at once what did not fit. If nothing fits, it comes back after the visibility timeout instead. */
  async #returnLate(count: number): Promise<void> {
    if (this.#late.length === 0) return
    const { queue, longestMs } = this.#inbox
    if (this.#begun === 0) {
      const text = `An event may take ${longestMs} ms (handlerTimeout and three seconds), but the function has ${Math.round(this.#remainingMs())} ms left, so none of ${count} began: raise the function's timeout, or lower handlerTimeout.`
      this.#report('function_timeout_too_short', { level: 'error', text })
      return
    }
    const text = `${this.#late.length} of ${count} events did not fit into the function's remaining time and were returned to the queue, which costs them no attempt: lower the event source's BatchSize, or raise the function's timeout.`
    this.#report('batch_returned', { level: 'warn', text })
    const returning = Promise.all(this.#late.map(one => queue.postpone(one.receiptHandle, 0)))
    await settlesWithin(returning, Math.min(RETURN_MS, this.#remainingMs() / 2))
  }

  /** No limit if the caller is not Lambda. */
  #remainingMs(): number {
    try {
      const ms: unknown = this.#context?.getRemainingTimeInMillis()
      return typeof ms === 'number' && !Number.isNaN(ms) ? ms : Number.POSITIVE_INFINITY
    } catch {
      return Number.POSITIVE_INFINITY
    }
  }
}

const RETURN_MS = 2000
const NOT_SQS = 'must be sqsInbox(…): no other inbox gets events from SQS'
const POLLS = 'must be false with toSqsHandler: Lambda polls the queue itself'
const ONLY_RECEIVES = 'must not be 0 in the function that handles events'
const NO_RECORDS =
  "must be an SQS queue: the function was called without 'Records', as by a test event or another trigger, and did nothing"
const UNREADABLE =
  'A record of the batch has no messageId, receiptHandle and body as text: its message stays in the queue.'
const FIFO_BATCH =
  "An event failed, so the events behind it in its FIFO group were returned to the queue without an attempt. SQS counts that delivery toward maxReceiveCount: set the event source's BatchSize to 1."

function recordsOf(batch: unknown): readonly unknown[] {
  let records: unknown
  try {
    records = (batch as Partial<SqsBatch> | null | undefined)?.Records
    if (Array.isArray(records)) return [...records]
  } catch {
    // A batch that cannot be read is not from Lambda.
  }
  throw new ConfigurationError('event source', NO_RECORDS)
}

/** Returns the record's id instead, or an empty text, if it has another shape. */
function readRecord(record: unknown): Readable | string {
  let id = ''
  try {
    const { messageId } = record as SqsRecord
    if (typeof messageId === 'string') id = messageId
    const { receiptHandle, body, attributes } = record as SqsRecord
    const texts = [messageId, receiptHandle, body]
    if (id === '' || !texts.every(one => typeof one === 'string')) return id
    const { ApproximateReceiveCount: receiveCount = '1', MessageGroupId: group } = attributes ?? {}
    return { id, receiptHandle, text: body, receiveCount: String(receiveCount), group: String(group ?? '') }
  } catch {
    return id
  }
}

/** Groups a batch. On a standard queue each message is its own group, even if group ids make it a fair queue. */
function groupsOf(records: readonly Readable[], isFifo: boolean): readonly (readonly Readable[])[] {
  if (!isFifo) return records.map(record => [record])
  const groups = new Map<string, Readable[]>()
  for (const record of records) {
    const group = groups.get(record.group)
    if (group === undefined) groups.set(record.group, [record])
    else group.push(record)
  }
  return [...groups.values()]
}

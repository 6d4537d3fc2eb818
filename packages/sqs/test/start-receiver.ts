import { memoryStore, type Observation, type ReceiverOptions } from '@ackhook/core'
import { type SqsInboxOptions, sqsInbox } from '@ackhook/sqs'
import { eventBody, watch } from '../../../test/support/receiving.ts'
import { type SqsServer, sqsClientAt } from '../../../test/support/sqs.ts'

interface Setup {
  readonly sqs: SqsServer
  /** Ends in `.fifo` for FIFO. */
  readonly name?: string
  readonly attributes?: Record<string, string>
  readonly inbox?: Partial<SqsInboxOptions>
  readonly options?: Partial<Omit<ReceiverOptions, 'inbox' | 'secret' | 'observe' | 'logger'>>
}

/** One attempt, for example `evt_1#2`. */
export type Run = string

/** Creates a receiver on its own queues. Each event fails `data.fails` times. */
export async function startReceiver({
  sqs,
  name = 'events',
  attributes = {},
  inbox = {},
  options = {},
}: Setup) {
  const queueUrl = inbox.queueUrl ?? (await sqs.createQueue(name, attributes))
  const deadLetters =
    inbox.deadLetters ?? (await sqs.createQueue(name.endsWith('.fifo') ? 'dead.fifo' : 'dead'))
  // Each receiver has its own client: the polls of many would use up the connections of one.
  const client = sqsClientAt(sqs.endpoint)
  const store = inbox.store ?? memoryStore()
  const runs: Run[] = []
  const bodies: string[] = []
  const { receiver, seen, logger, send } = watch({
    inbox: sqsInbox({ client, store, lease: '3s', ...inbox, queueUrl, deadLetters }),
    retry: { attempts: 3, minDelay: '1ms' },
    ...options,
  } as never)
  receiver.on('*', async ({ id, data }, { attempt, rawBody }) => {
    runs.push(`${id}#${attempt}`)
    bodies.push(new TextDecoder().decode(rawBody))
    if (attempt <= Number(data['fails'] ?? 0)) throw new Error(`attempt ${attempt} fails`)
  })
  return {
    receiver,
    client,
    queueUrl,
    deadLetters: deadLetters === false ? '' : deadLetters,
    runs,
    bodies,
    seen,
    kinds: (kind: Observation['kind']) => seen.filter(one => one.kind === kind),
    codes: () => logger.lines.map(({ fields }) => fields['code']),
    /** Sends an event with `id`. */
    send: (id: string, data: Record<string, unknown> = {}) => send({ id, data }),
    body: (id: string, data: Record<string, unknown> = {}) => eventBody({ id, data }),
  }
}

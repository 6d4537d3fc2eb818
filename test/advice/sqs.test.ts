import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { createReceiver, memoryStore } from '@ackhook/core'
import { adviceOn } from '@ackhook/core/advice'
import { sqsInbox } from '@ackhook/sqs'
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { sqsClientAt, startSqs } from '../support/sqs.ts'

// The client of SQS says each error, and the advice must be about that error.

const QueueUrl = 'http://127.0.0.1/000000000000/missing'

async function errorOf(client: SQSClient): Promise<unknown> {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] })
  const sent = client.send(command, { abortSignal: AbortSignal.timeout(3000) })
  return sent.then(
    () => undefined,
    error => error,
  )
}

function advice(error: unknown): string | undefined {
  const found = adviceOn(error, 'sqs')
  return found && `${found.cause}; ${found.fix}`
}

test('a missing queue', async () => {
  const sqs = await startSqs()
  onTestFinished(() => sqs.stop())
  expect(advice(await errorOf(sqs.client))).toMatch(/no such queue/)
})

test('nothing at the address, and start() says so', async () => {
  const client = sqsClientAt(`http://127.0.0.1:${await freePort()}`)
  expect(advice(await errorOf(client))).toMatch(/check that it runs/)
  const inbox = sqsInbox({ client, queueUrl: QueueUrl, deadLetters: false, store: memoryStore() })
  const logger = { info() {}, warn() {}, error() {} }
  const receiver = createReceiver({ secret: 'a-secret-of-at-least-16-bytes', inbox, logger })
  await expect(receiver.start()).rejects.toThrow(
    /^SQS does not serve the queue 'missing' \(.*ECONNREFUSED.*\): .*check that it runs/,
  )
})

test('no reply in time', async () => {
  const sockets = new Set<Socket>()
  const silent = createServer(socket => void sockets.add(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => {
    silent.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = silent.address() as AddressInfo
  expect(advice(await errorOf(sqsClientAt(`http://127.0.0.1:${port}`)))).toMatch(/no reply came in time/)
})

test.each([
  ['no region', { region: async () => Promise.reject(new Error('Region is missing')) }, /AWS_REGION/],
  [
    'no credentials',
    {
      credentials: async () =>
        Promise.reject(Object.assign(new Error('none'), { name: 'CredentialsProviderError' })),
      region: 'us-east-1',
    },
    /give the client credentials/,
  ],
])('%s', async (_, options, fix) => {
  expect(advice(await errorOf(new SQSClient(options)))).toMatch(fix)
})

import { ConfigurationError, createReceiver, memoryStore } from '@ackhook/core'
import { SQSClient } from '@aws-sdk/client-sqs'
import { afterEach, expect, it, vi } from 'vitest'
import { type SqsInboxOptions, sqsInbox } from './sqs-inbox.ts'
import { toSqsHandler } from './to-sqs-handler.ts'

const secret = 'only-for-trying-it-out'
const address = 'https://sqs.eu-west-1.amazonaws.com/123456789012/'
const options: SqsInboxOptions = {
  client: new SQSClient({ region: 'eu-west-1' }),
  queueUrl: `${address}events`,
  deadLetters: `${address}dead`,
  store: memoryStore(),
}
const fifo = { queueUrl: `${address}events.fifo`, deadLetters: `${address}dead.fifo` }
const inbox = (more: object) => sqsInbox({ ...options, ...more })
const receiver = (more: object, ofInbox: object = {}) =>
  createReceiver({ secret, inbox: inbox(ofInbox), ...more })

afterEach(() => vi.unstubAllEnvs())

it.each([
  ['client', () => inbox({ client: 'eu-west-1' })],
  ['queueUrl', () => inbox({ queueUrl: undefined })],
  ['queueUrl', () => inbox({ queueUrl: 'arn:aws:sqs:eu-west-1:123456789012:events' })],
  ['deadLetters', () => inbox({ deadLetters: undefined })],
  ['deadLetters', () => inbox({ deadLetters: options.queueUrl })],
  ['deadLetters', () => inbox({ deadLetters: fifo.deadLetters })],
  ['deadLetters', () => inbox({ queueUrl: fifo.queueUrl })],
  ['dead', () => inbox({ dead: true })],
  ['lease', () => inbox({ lease: '1s' })],
  ['store', () => receiver({}, { store: undefined })],
  ['serializeBy', () => receiver({ serializeBy: () => 'a' })],
  ['deadLetterRetention', () => receiver({ deadLetterRetention: '10d' })],
  ['capacity', () => receiver({ capacity: 10 })],
  ['handlerTimeout', () => receiver({ handlerTimeout: '15m' }, { poll: false })],
  ['handlerTimeout', () => receiver({ handlerTimeout: '1h' }, fifo)],
  ['handlerTimeout', () => receiver({ handlerTimeout: '11h' })],
  ['retry.maxDelay', () => receiver({ retry: { maxDelay: '12h' } }, fifo)],
  ['inbox', () => toSqsHandler(createReceiver({ secret }))],
  ['poll', () => toSqsHandler(receiver({}))],
])('refuses a wrong %s by its name', (option, create) => {
  expect(create).toThrow(ConfigurationError)
  expect(create).toThrow(expect.objectContaining({ option }))
})

it.each([
  ['ordering on a FIFO queue', () => receiver({ serializeBy: () => 'a' }, fifo)],
  ['a long delay on a standard queue', () => receiver({ retry: { maxDelay: '2d' } })],
  ['no dead letters', () => receiver({}, { deadLetters: false })],
  ['a process that only receives, without a store', () => receiver({ concurrency: 0 }, { store: undefined })],
  ['a function that Lambda calls', () => toSqsHandler(receiver({}, { poll: false }))],
])('accepts %s', (_, create) => {
  expect(create).not.toThrow()
})

it('does not poll on AWS Lambda', () => {
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'webhooks')
  expect(() => toSqsHandler(receiver({}))).not.toThrow()
})

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { recordingLogger } from '../../../../test/support/receiving.ts'
import { Refusal } from '../errors/refusal.ts'
import { createRefusalLog, createStoreLog } from './failure-log.ts'

const SEE = ' See https://github.com/ackhook/ackhook/blob/main/docs/errors.md#refused'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

it('says why, in the words of the refusal or of its code, with the page that has the fix', () => {
  const logger = recordingLogger()
  const log = createRefusalLog(logger)
  const cause = new Error('down')
  log(new Refusal('signature_mismatch', { detail: 'no signature matches' }))
  log(new Refusal('capacity_exceeded'))
  log(new Refusal('secret_unavailable', { cause }))
  log(new Refusal('method_not_allowed', { detail: 'GET' }))
  expect(logger.lines).toEqual([
    {
      level: 'warn',
      fields: { code: 'signature_mismatch', status: 401 },
      message: `Webhook answered 401 signature_mismatch: no signature matches.${SEE}`,
    },
    {
      level: 'warn',
      fields: { code: 'capacity_exceeded', status: 503 },
      message: `Webhook answered 503 capacity_exceeded: Too many events are waiting; send it again later.${SEE}`,
    },
    {
      level: 'error',
      fields: { code: 'secret_unavailable', status: 500, err: cause },
      message: `Webhook answered 500 secret_unavailable: The signing secret is not available.${SEE}`,
    },
    {
      level: 'info',
      fields: { code: 'method_not_allowed', status: 405 },
      message: `Webhook answered 405 method_not_allowed: GET.${SEE}`,
    },
  ])
})

it('reports a flood once a minute, with its number, each reason by itself', () => {
  const logger = recordingLogger()
  const log = createRefusalLog(logger)
  const refusal = new Refusal('signature_malformed', { detail: 'no t' })
  for (let i = 0; i < 1000; i++) log(refusal)
  log(new Refusal('signature_missing'))
  vi.advanceTimersByTime(59_999)
  log(refusal)
  expect(logger.lines.map(line => line.fields['code'])).toEqual(['signature_malformed', 'signature_missing'])
  vi.advanceTimersByTime(1)
  log(refusal)
  vi.advanceTimersByTime(60_000)
  log(refusal)
  expect(logger.lines.slice(2).map(line => line.message)).toEqual([
    `Webhook answered 401 signature_malformed (and 1000 more since the last report): no t.${SEE}`,
    `Webhook answered 401 signature_malformed: no t.${SEE}`,
  ])
})

it('says what failed and what it means for events, and nothing of what else is observed', () => {
  const logger = recordingLogger()
  const log = createStoreLog(logger)
  const error = new Error('connection refused')
  log({ kind: 'received' })
  log({ kind: 'store_slow', operation: 'work', durationMs: 300 })
  log({ kind: 'store_down', operation: 'work', error })
  expect(logger.lines).toEqual([
    {
      level: 'error',
      fields: { code: 'store_down', operation: 'work', err: error },
      message:
        "The inbox or its store failed in 'work'. Until it works, deliveries may be refused, and events wait or run again; none that it holds is lost.",
    },
  ])
})

it('reports an outage once a minute, with its number, each operation by itself', () => {
  const logger = recordingLogger()
  const log = createStoreLog(logger)
  const fail = (operation: string) => log({ kind: 'store_down', operation, error: new Error('down') })
  for (let i = 0; i < 1000; i++) fail('settle')
  fail('accept')
  vi.advanceTimersByTime(59_999)
  fail('settle')
  expect(logger.lines.map(line => line.fields['operation'])).toEqual(['settle', 'accept'])
  vi.advanceTimersByTime(1)
  fail('settle')
  expect(logger.lines).toHaveLength(3)
  expect(logger.lines[2]?.message).toContain("failed in 'settle' (and 1000 more since the last report).")
})

import { expect, it, vi } from 'vitest'
import { recordingLogger } from '../../../../test/support/receiving.ts'
import { guardLogger, guardObserver } from './guards.ts'

it('an observer that throws is logged and goes no further', () => {
  const logger = recordingLogger()
  const err = new Error('observer')
  guardObserver(() => {
    throw err
  }, logger)({ kind: 'received' })
  expect(logger.lines).toEqual([
    { level: 'error', fields: { err, kind: 'received' }, message: 'An observer threw.' },
  ])
})

it('an observer that throws at each of a thousand events is logged once for each kind of observation', () => {
  const logger = recordingLogger()
  const observe = guardObserver(() => {
    throw new Error('observer')
  }, logger)
  for (let i = 0; i < 1000; i++) {
    observe({ kind: 'received' })
    observe({ kind: 'rejected', code: 'signature_mismatch', status: 401, durationMs: 1 })
  }
  expect(logger.lines.map(({ fields }) => fields['kind'])).toEqual(['received', 'rejected'])
})

it('an asynchronous observer that fails is logged and goes no further', async () => {
  const logger = recordingLogger()
  const err = new Error('observer')
  guardObserver(async () => {
    throw err
  }, logger)({ kind: 'received' })
  await vi.waitFor(() =>
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { err, kind: 'received' } }]),
  )
})

it('an asynchronous logger that fails loses the line and nothing else', async () => {
  let called = 0
  const failed = async () => {
    called++
    throw new Error('logger')
  }
  const guarded = guardLogger({ info: failed, warn: failed, error: failed })
  for (const level of ['info', 'warn', 'error'] as const) guarded[level]({}, 'text')
  // Node reports an unhandled rejection at the end of the turn, and that fails the test run.
  await new Promise(resolve => setImmediate(resolve))
  expect(called).toBe(3)
})

it('an observer is called', () => {
  const observe = vi.fn()
  guardObserver(observe, recordingLogger())({ kind: 'received' })
  expect(observe.mock.calls).toEqual([[{ kind: 'received' }]])
})

it('a logger that throws loses the line and nothing else', () => {
  const broken = () => {
    throw new Error('logger')
  }
  const guarded = guardLogger({ info: broken, warn: broken, error: broken })
  for (const level of ['info', 'warn', 'error'] as const) guarded[level]({}, 'text')
})

it('a logger keeps its this', () => {
  const logger = {
    lines: [] as string[],
    info(this: { lines: string[] }, _: object, message: string) {
      this.lines.push(message)
    },
    warn() {},
    error() {},
  }
  guardLogger(logger).info({}, 'kept')
  expect(logger.lines).toEqual(['kept'])
})

it('texts in a list are escaped like a single text', () => {
  const lines: object[] = []
  const note = (fields: object) => void lines.push(fields)
  const guarded = guardLogger({ info: note, warn: note, error: note })
  guarded.warn({ events: ['evt_\u001b[2J', 'evt_\u202e'], id: 'evt_\u0007', count: 2 }, 'text')
  expect(lines).toEqual([{ events: ['evt_\\u001b[2J', 'evt_\\u202e'], id: 'evt_\\u0007', count: 2 }])
})

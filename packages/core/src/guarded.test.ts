import { expect, it, vi } from 'vitest'
import { recordingLogger } from '../../../test/support/receiving.ts'
import { guardLogger } from './guarded-logger.ts'
import { guardObserver } from './guarded-observer.ts'

it('an observer that throws is logged and goes no further', () => {
  const logger = recordingLogger()
  const err = new Error('observer')
  guardObserver(() => {
    throw err
  }, logger)({ kind: 'received' })
  expect(logger.lines).toEqual([
    { level: 'error', fields: { err, kind: 'received' }, message: 'The option observe threw.' },
  ])
})

it('an observer is told', () => {
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

import { expect, it } from 'vitest'
import { messageFirst, toLogger } from './foreign-loggers.ts'
import type { AnyLogger, Logger, MessageFirstLogger } from './logger.ts'

// Each real library is in test/hosts/loggers.check.ts; these are the rules between them.
const none = () => {}

function recording(...names: readonly string[]) {
  const calls: unknown[][] = []
  const logger = Object.fromEntries(
    names.map(name => [name, (...args: unknown[]) => void calls.push([name, ...args])]),
  )
  return { calls, logger: logger as unknown as AnyLogger }
}

it.each([
  [['info', 'warn', 'error']],
  [['info', 'warn', 'error', 'log', 'trace', 'debug']],
  [['info', 'warn', 'error', 'trace', 'debug', 'fatal', 'child']],
])('passes the fields first to a logger of unknown make with %j', names => {
  const { calls, logger } = recording(...names)
  toLogger(logger).warn({ code: 'c' }, 'text')
  expect(toLogger(logger)).toBe(logger)
  expect(calls).toEqual([['warn', { code: 'c' }, 'text']])
})

it("calls Nest's log for information, with the fields in the text, before the stack", () => {
  const { calls, logger } = recording('log', 'warn', 'error')
  const err = new Error('no')
  toLogger(logger).info({ code: 'c' }, 'text')
  toLogger(logger).error({ code: 'c', event: 'evt_1', err }, 'text')
  expect(calls).toEqual([
    ['log', '[c] text'],
    ['error', `[c] text {"event":"evt_1"}\n${err.stack}`],
  ])
})

it('calls a method on its logger', () => {
  class TextFirst {
    readonly lines: string[] = []
    info(text: string) {
      this.lines.push(text)
    }
    warn = none
    error = none
  }
  const logger = new TextFirst()
  messageFirst(logger).info({}, 'text')
  expect(logger.lines).toEqual(['text'])
})

it.each([
  ['info', { warn: none, error: none }],
  ['warn', { info: none, error: none }],
  ['error', { log: none, warn: none }],
])("a logger without '%s' is refused at construction", (missing, logger) => {
  const named = expect.stringContaining(`'${missing}'`)
  expect(() => toLogger(logger as unknown as Logger)).toThrow(expect.objectContaining({ message: named }))
  if (!('log' in logger))
    expect(() => messageFirst(logger as unknown as MessageFirstLogger)).toThrow(
      expect.objectContaining({ message: named }),
    )
})

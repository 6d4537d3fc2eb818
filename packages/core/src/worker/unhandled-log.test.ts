import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { recordingLogger } from '../../../../test/support/receiving.ts'
import { HandlerRegistry } from './handler-registry.ts'
import { createUnhandledLog, warnWithoutHandlers } from './unhandled-log.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function logOf(patterns: readonly string[], schemas = {}) {
  const logger = recordingLogger()
  const handlers = new HandlerRegistry()
  for (const pattern of patterns) handlers.add(pattern, () => {})
  return { log: createUnhandledLog({ logger, handlers, schemas }), logger }
}

describe('an event that no handler matches', () => {
  it('is logged at once, then once a minute with a count, each type separately', () => {
    const { log, logger } = logOf([])
    for (let i = 0; i < 1000; i++) log(`evt_${i}`, 'a.b')
    log('evt_c', 'c.d')
    vi.advanceTimersByTime(60_000)
    log('evt_late', 'a.b')
    expect(logger.lines).toEqual([
      {
        level: 'warn',
        fields: { code: 'unhandled', event: 'evt_0', type: 'a.b' },
        message: "No handler matches 'a.b': event evt_0 was completed without one.",
      },
      expect.objectContaining({ fields: { code: 'unhandled', event: 'evt_c', type: 'c.d' } }),
      expect.objectContaining({
        message:
          "No handler matches 'a.b': event evt_late was completed without one (and 999 more since the last report).",
      }),
    ])
  })

  it('does not cost memory or a line for every type that a sender invents', () => {
    const { log, logger } = logOf([])
    for (let i = 0; i < 10_000; i++) log(`evt_${i}`, `invented.${i}`)
    expect(logger.lines).toHaveLength(51)
  })

  it.each([
    [
      ['conversation.resolvd'],
      'conversation.resolved',
      "You have on('conversation.resolvd'): did you mean on('conversation.resolved')?",
    ],
    [
      ['conversaton.*'],
      'conversation.opened',
      "You have on('conversaton.*'): did you mean on('conversation.*')?",
    ],
    [['message.*'], 'conversation.resolvd', "Did you mean 'conversation.resolved'?"],
    [['conversation.resolved'], 'conversation.resolvd', "Did you mean 'conversation.resolved'?"],
    [[], 'message.deliverd', "Did you mean 'message.delivered'?"],
  ])('names the likely misspelling: on(%j) and %s', (patterns, type, suggestion) => {
    const { log, logger } = logOf(patterns, { 'message.delivered': {} })
    log('evt_1', type)
    expect(logger.lines[0]?.message).toBe(
      `No handler matches '${type}': event evt_1 was completed without one. ${suggestion}`,
    )
  })

  it('gets no suggestion if its type is simply a different one', () => {
    const { log, logger } = logOf(['conversation.resolved'])
    log('evt_1', 'conversation.reopened')
    expect(logger.lines[0]?.message).toBe(
      "No handler matches 'conversation.reopened': event evt_1 was completed without one.",
    )
  })
})

describe('a receiver without any handler', () => {
  it('is reported', () => {
    const logger = recordingLogger()
    warnWithoutHandlers(logger, new HandlerRegistry())
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { code: 'no_handlers' } }])
  })

  it.each(['a.b', 'a.*', '*'])('is one without on: with %s it has one', pattern => {
    const logger = recordingLogger()
    const handlers = new HandlerRegistry()
    handlers.add(pattern, () => {})
    warnWithoutHandlers(logger, handlers)
    expect(logger.lines).toEqual([])
  })

  it('is one without onUnhandled either', () => {
    const logger = recordingLogger()
    const handlers = new HandlerRegistry()
    handlers.addListener('onUnhandled', () => {})
    warnWithoutHandlers(logger, handlers)
    expect(logger.lines).toEqual([])
  })
})

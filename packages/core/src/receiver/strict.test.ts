import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { recordingLogger, SECRET } from '../../../../test/support/receiving.ts'
import { ConfigurationError } from '../errors/errors.ts'
import type { EventSchemas } from '../events/event-types.ts'
import type { PlannedEvents } from '../events/planned-events.ts'
import { createReceiver } from './create-receiver.ts'

const events = {
  'order.paid': z.object({}),
  'campaign.recipient_outcome': z.object({}),
} satisfies EventSchemas

/** Starts a receiver with a handler of each pattern, and returns its log. */
async function logOf(patterns: readonly string[], more: { readonly concurrency?: number } = {}) {
  const logger = recordingLogger()
  const receiver = createReceiver({ secret: SECRET, events, logger, ...more })
  for (const pattern of patterns) receiver.on(pattern, () => {})
  await receiver.start()
  await receiver.close()
  return logger.lines.filter(line => line.level !== 'info')
}

describe('at start', () => {
  it.each([
    ['conversation.resolve', 'conversation.resolved'],
    ['conversation.resloved', 'conversation.resolved'],
    ['conversations.resolved', 'conversation.resolved'],
    ['converstaion.resolved', 'conversation.resolved'],
    ['conversation_resolved', 'conversation.resolved'],
    ['conversation:resolved', 'conversation.resolved'],
    ['ConversationResolved', 'conversation.resolved'],
    ['Conversation.Resolved', 'conversation.resolved'],
    ['conversation.resolved ', 'conversation.resolved'],
    ['resolved', 'conversation.resolved'],
    ['conversations.*', 'conversation.*'],
    ['Conversation.*', 'conversation.*'],
    ['order.pai', 'order.paid'],
    ['campaign.recipient-outcome', 'campaign.recipient_outcome'],
  ])('%s is an error that names %s', async (pattern, meant) => {
    expect(await logOf([pattern])).toEqual([
      {
        level: 'error',
        fields: { code: 'type_misspelled', pattern, meant },
        message: `on('${pattern}') matches no known event: did you mean on('${meant}')? If not, add '${pattern}' to the option events.`,
      },
    ])
  })

  it('patterns that match nothing known, and resemble nothing, share one warning', async () => {
    const patterns = ['order.void', 'message.delivered', 'ticket.*']
    const [line, ...more] = await logOf([...patterns, 'conversation.resolved'])
    expect(line).toMatchObject({ level: 'warn', fields: { code: 'type_unknown', patterns } })
    for (const pattern of patterns) expect(line?.message).toContain(`on('${pattern}')`)
    expect(more).toEqual([])
  })

  it('no planned type counts as misspelled', async () => {
    const planned: readonly (keyof PlannedEvents)[] = [
      ...([
        'message.sent',
        'message.delivered',
        'message.read',
        'message.failed',
        'message.received',
      ] as const),
      ...(['conversation.opened', 'conversation.assigned', 'conversation.reopened'] as const),
      ...(['call.started', 'call.answered', 'call.completed', 'call.missed', 'call.transferred'] as const),
      ...(['campaign.started', 'campaign.completed', 'campaign.recipient_outcome'] as const),
      ...(['contact.created', 'contact.updated', 'contact.opted_in', 'contact.opted_out'] as const),
    ]
    expect((await logOf(planned)).filter(line => line.level === 'error')).toEqual([])
  })

  it('nothing is logged of known and declared types, their categories and *', async () => {
    expect(await logOf(['conversation.resolved', 'conversation.*', 'order.paid', 'order.*', '*'])).toEqual([])
  })
})

describe('a strict receiver', () => {
  const strict = () => createReceiver({ secret: SECRET, events, strict: true })

  it('takes known and declared types, their categories and *', () => {
    const on = () =>
      strict()
        .on(['conversation.resolved', 'order.paid'], () => {})
        .on('conversation.*', () => {})
        .on('order.*', () => {})
        .on('*', () => {})
    expect(on).not.toThrow()
  })

  it.each([
    ['conversation.resolve', "did you mean 'conversation.resolved'?"],
    ['conversations.*', "did you mean 'conversation.*'?"],
    ['ticket.created', 'add it to the option events, or leave strict out'],
    ['ticket.*', 'add it to the option events, or leave strict out'],
  ])('refuses %s, alone and in a list', (pattern, fix) => {
    for (const given of [pattern, ['conversation.resolved', pattern]]) {
      const on = () => strict().on(given as never, () => {})
      expect(on).toThrow(ConfigurationError)
      expect(on).toThrow(`Option 'on('${pattern}')': no known event has this type`)
      expect(on).toThrow(fix)
    }
  })

  it('is asked for with true or false', () => {
    expect(() => createReceiver({ secret: SECRET, strict: 'yes' as never })).toThrow(
      "Option 'strict': must be true or false",
    )
  })
})

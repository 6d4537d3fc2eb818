import { expect, it } from 'vitest'
import { recorded, VARIED } from '../../test/recorded.ts'
import { typesOf } from '../index.ts'

it('declares each type for EventMap, except the published ones', () => {
  expect(typesOf(VARIED)).toMatchInlineSnapshot(`
    "// Written by \`ackhook types\` from 13 recorded deliveries. Do not edit: write it again instead.
    import '@ackhook/core'

    /** Data of each type, as it arrived. */
    export interface RecordedEvents {
      /** From 1 recorded delivery. */
      'conversation.resolved': {
        channel: string
        conversation_id: string
        resolved_by: string
        team: string
      }
      /** From 12 recorded deliveries. */
      'message.delivered': {
        /** A time in ISO 8601. */
        at: string
        empty: Record<string, unknown>
        error_code?: number
        items: ({
          count?: number
          sku: string
        })[]
        labels: Record<string, number>
        message_id: string
        mixed: {
          known: number
          [key: string]: unknown
        }
        never: unknown[]
        /** Only null so far. */
        nothing: unknown
        'odd-name': boolean
        /** Seconds since the epoch. */
        sent: number
        /** So far: failed, sent. */
        status: 'failed' | 'sent' | (string & {})
        tags: (string | number)[]
        /** Beyond 2^53, where JSON.parse rounds: read \`context.rawBody\`. */
        ticket: number
        to: {
          name: string | null
          phone: string
        }
      }
    }

    declare module '@ackhook/core' {
      // 'conversation.resolved': published, and declared by @ackhook/core.
      interface EventMap extends Omit<RecordedEvents, 'conversation.resolved'> {}
    }
    "
  `)
})

it.each(['types', 'zod', 'valibot'] as const)(
  'writes the same text for the same recordings in any order: %s',
  as => {
    expect(typesOf([...VARIED].reverse(), { as })).toBe(typesOf(VARIED, { as }))
  },
)

it('writes a field as optional once it was missing, and as a union once it had another kind', () => {
  const text = typesOf([recorded('a.b', { x: 'one', y: 1 }), recorded('a.b', { x: 2 })])
  expect(text).toContain('x: string | number\n')
  expect(text).toContain('y?: number\n')
})

it('makes no set of values that a mask has replaced, nor of a few, nor of texts', () => {
  const many = (data: (at: number) => object, kept: 'all' | readonly string[] = 'all') =>
    typesOf(Array.from({ length: 20 }, (_, at) => recorded('a.b', data(at), { kept })))
  expect(many(() => ({ status: 'xxxx' }), [])).toContain('status: string\n')
  expect(many(() => ({ status: 'sent' }), ['data.status'])).toContain("status: 'sent' | (string & {})\n")
  expect(many(at => ({ status: `s${'abcdefghijklmnopqrst'[at]}` }))).toContain('status: string\n')
  expect(many(() => ({ status: 'All is well' }))).toContain('status: string\n')
  expect(typesOf([recorded('a.b', { status: 'sent' })])).toContain('status: string\n')
})

it('reads the names of the envelope that were in force', () => {
  const event = { event_id: 'evt_1', event: 'a.b', created_at: '', payload: { x: 1 } }
  const fields = { id: 'event_id', type: 'event', data: 'payload' }
  expect(typesOf([recorded('', {}, { event, fields })])).toContain('x: number')
})

it('leaves out what has no type or no data', () => {
  expect(typesOf([recorded('a.b', {}, { event: { type: 'a.b', data: null } })])).not.toContain('a.b')
})

it('refuses a wrong option', () => {
  expect(() => typesOf([], { as: 'yup' as 'zod' })).toThrow(expect.objectContaining({ option: 'as' }))
})

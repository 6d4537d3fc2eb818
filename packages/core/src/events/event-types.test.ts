import { expect, it } from 'vitest'
import { isEvent } from './event-types.ts'

it('tells events apart by their type', () => {
  const event = { id: 'evt_1', type: 'conversation.resolved', created_at: '', data: {} }
  expect(isEvent(event, 'conversation.resolved')).toBe(true)
  expect(isEvent({ ...event, type: 'conversation.opened' }, 'conversation.resolved')).toBe(false)
})

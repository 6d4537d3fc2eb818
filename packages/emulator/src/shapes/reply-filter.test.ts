import { expect, it } from 'vitest'
import { meetsReplyTerms, readReplyTerms, replyTextOf } from './reply-filter.ts'

const replied = (lastStatus: number, lastCode: string | null = null) => ({
  ...{ lastStatus, lastCode, lastError: null },
})
const failed = (lastError: string) => ({ lastStatus: null, lastCode: null, lastError })

it.each([
  ['500', [replied(500)], [replied(503), failed('ECONNRESET')]],
  ['5xx', [replied(500), replied(599)], [replied(499), failed('socket hang up')]],
  ['500,502', [replied(500), replied(502)], [replied(501)]],
  ['>=500', [replied(500), replied(503)], [replied(404)]],
  ['<300, timeout', [replied(202), failed('timeout after 10 s')], [replied(300)]],
  ['ECONNRESET', [failed('read ECONNRESET')], [replied(500), failed('ETIMEDOUT')]],
  ['handler', [replied(500, 'handler_failed')], [replied(500, 'other')]],
  ['500 handler_failed', [replied(500, 'handler_failed')], [replied(500), replied(503, 'handler_failed')]],
])('%s matches what one sees', (text, met, others) => {
  const terms = readReplyTerms(text)
  expect(met.filter(reply => !meetsReplyTerms(terms, reply))).toEqual([])
  expect(others.filter(reply => meetsReplyTerms(terms, reply))).toEqual([])
})

it('writes a reply as lists show it', () => {
  const texts = [replied(500, 'handler_failed'), replied(204), failed('ECONNRESET')].map(replyTextOf)
  expect(texts).toEqual(['500 handler_failed', '204', 'ECONNRESET'])
})

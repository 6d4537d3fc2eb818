import { createReceiver, memoryInbox } from '@ackhook/core'
import { dashboard } from '@ackhook/dashboard'
import { signedRequest } from '@ackhook/testing'
import { expect, it } from 'vitest'
import {
  HostCheck,
  hasToken,
  isJson,
  judgeOrigin,
} from '../../packages/emulator/src/security/request-check.ts'

/** As much as Node accepts in one request. */
const LENGTH = 16_384
/** Units whose repetition has made an expression backtrack, or may. */
const UNITS = [
  ...':.,;=- \t/@%"[]{}0af_*',
  'a:',
  '::',
  '1.',
  'a.',
  'xn--',
  '%20',
  ', ',
  '; ',
  'a=b,',
  '0-',
  '[:',
]
/** Beginnings that lead an expression past its first literals. */
const STARTS = [
  '',
  't=',
  't=1700000000,v1=',
  '00-',
  'a=',
  'application/json',
  'Bearer ',
  'http://',
  '[',
  '1:',
]

const logger = { info() {}, warn() {}, error() {} }
const secret = 'whsec_headers_0123456789'
const receiver = createReceiver({ secret, inbox: memoryInbox(), logger })
const event = { id: 'evt_1', type: 'a.b', created_at: '2026-11-22T00:00:00Z', data: {} }
const signed = signedRequest(event, { secret })
const [SIGNATURE = ''] = Object.keys(signed.headers).filter(name => name.includes('signature'))
const pages = dashboard({ receiver, authorize: () => false, trustProxy: true, allowedHosts: ['ops.example'] })
const emulator = new HostCheck('127.0.0.1', [])

const toReceiver = (name: string) => async (value: string) =>
  void (await receiver.handle({ ...signed, headers: { ...signed.headers, [name]: value } }))

const toDashboard = (name: string) => async (value: string) => {
  const init = { method: 'POST', headers: { host: 'ops.example', [name]: value } }
  await pages.fetch(new Request('http://ops.example/ops/api/verbs/redrive', init), undefined)
}

const toEmulator = (name: string) => (value: string) => {
  const headers: Record<string, string> = { host: 'localhost', [name]: value }
  const rawHeaders = Object.entries(headers).flat()
  emulator.allows({ url: `http://${value}/`, headers, rawHeaders } as never)
  judgeOrigin({ method: 'POST', path: '/_emulator/v1/events', header: one => headers[one] })
  hasToken(headers['authorization'], 'token')
  isJson(headers['content-type'])
}

const READERS: readonly (readonly [string, (value: string) => unknown])[] = [
  ...[SIGNATURE, 'traceparent', 'tracestate', 'content-type', 'content-length', 'baggage'].map(
    name => [`receiver: ${name}`, toReceiver(name)] as const,
  ),
  ...[
    'host',
    'x-forwarded-host',
    'x-forwarded-proto',
    'origin',
    'sec-fetch-site',
    'content-type',
    'accept',
  ].map(name => [`dashboard: ${name}`, toDashboard(name)] as const),
  ...['host', 'origin', 'authorization', 'content-type'].map(
    name => [`emulator: ${name}`, toEmulator(name)] as const,
  ),
]

/** Least processor time of a few runs, in microseconds. The time of the clock would measure the machine's load. */
async function costOf(work: () => unknown, enoughIfBelow: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < 5 && least > enoughIfBelow; run++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, user + system)
  }
  return least
}

/** What a linear reader costs: a hundred passes over the text, each of them slower than an expression's. */
function readLinearly(text: string): number {
  let sum = 0
  for (let pass = 0; pass < 100; pass++) for (let at = 0; at < text.length; at++) sum += text.charCodeAt(at)
  return sum
}

it.each(READERS)('%s of 16 kB costs no more than a generous linear reading', async (_, read) => {
  const texts = STARTS.flatMap(start => UNITS.map(unit => (start + unit.repeat(LENGTH)).slice(0, LENGTH)))
  const linear = Math.max(10_000, 5 * (await costOf(() => readLinearly('a'.repeat(LENGTH)), 0)))
  for (const text of texts) {
    // With a wrong last character, too: expressions backtrack when they fail at the end.
    for (const value of [text, `${text.slice(0, -1)}!`]) {
      const cost = await costOf(() => read(value), linear)
      expect(cost, JSON.stringify(value.slice(0, 30))).toBeLessThan(linear)
    }
  }
})

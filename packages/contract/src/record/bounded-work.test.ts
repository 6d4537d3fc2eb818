import { createReceiver } from '@ackhook/core'
import { signedRequest } from '@ackhook/testing'
import { expect, it } from 'vitest'
import { recorded } from '../../test/recorded.ts'
import { type RecordOptions, recordDeliveries, watchDrift } from '../index.ts'

const secret = 'whsec_0123456789abcdef'
const KNOWN_FIELDS = Object.fromEntries(
  Array.from({ length: 200 }, (_, at) => [
    `field${String.fromCharCode(97 + (at % 26))}${'x'.repeat(at % 40)}`,
    'x',
  ]),
)
const event = (data: string) =>
  `{"id":"evt_1","type":"a.b","created_at":"2026-01-01T00:00:00Z","data":${data}}`
const list = (count: number, of: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => of(at)).join(',')
const name = (at: number) => `"${Array.from(String(at), digit => 'abcdefghij'[Number(digit)]).join('')}"`
const nested = (depth: number, level: string, inside: string) =>
  `${`{${level}"${'n'.repeat(60)}":`.repeat(depth)}${inside}${'}'.repeat(depth)}`

/** Bodies whose cost could be their depth times their width, or their width times itself. */
const BODIES = {
  'deep, with a wide end': event(nested(1000, '', `{${list(8000, at => `${name(at)}:1`)}}`)),
  'deep, with leaves on the way': event(nested(900, `${list(80, at => `${name(at)}:1`)},`, '1')),
  'lists inside of lists': event(`{"a":${'['.repeat(1000)}${list(90_000, () => '0')}${']'.repeat(1000)}}`),
  'many fields': event(`{${list(30_000, at => `${name(at)}:0`)}}`),
  'many keys of data': event(`{${list(60_000, at => `"${10_000 + at}":{"x":${at}}`)}}`),
  'a list of all kinds': event(`{"a":[${list(20_000, at => `{${name(at)}:[null,"",1.5,{}]}`)}]}`),
  'a wide object beside empty ones': event(
    `{"a":[{${list(15_000, at => `${name(at)}:1`)}},${list(80_000, () => '{}')}]}`,
  ),
  'other fields than the known ones': event(
    `{${list(200, at => `"other${at % 10}${'y'.repeat(at % 50)}${name(at).slice(1)}:"x"`)}}`,
  ),
  'a type of 700 kB': event('{}').replace('a.b', 'x'.repeat(700_000)),
  'an id of 700 kB': event('{}').replace('evt_1', 'x'.repeat(700_000)),
  'a time of 700 kB': event('{}').replace('2026-01-01T00:00:00Z', '0'.repeat(700_000)),
  'one key of 700 kB': event(`{"${'k'.repeat(700_000)}":1}`),
  'what shows as nothing': event(`{"a":"${'\u200b'.repeat(200_000)}"}`),
}

async function deliver(body: string, options: Partial<RecordOptions>, times: number) {
  let logged = 0
  let written = 0
  const log = (fields: object, message: string): void => {
    logged += JSON.stringify(fields).length + message.length
  }
  const write = (_: string, text: string): void => {
    written += text.length
  }
  const receiver = createReceiver({ secret, logger: { info: log, warn: log, error: log } })
  receiver.on('*', () => {})
  recordDeliveries(receiver, { write, sample: 1, ...options })
  watchDrift(receiver, { known: [recorded('a.b', KNOWN_FIELDS)] })
  for (let count = 0; count < times; count++)
    await receiver.handle({ ...signedRequest(body, { secret }), context: undefined })
  await receiver.close()
  return { logged, written }
}

it.each(
  Object.entries(BODIES).flatMap(([what, body]) => [
    [what, 'masked', body, {}] as const,
    [what, 'as it is', body, { redact: false } as const] as const,
  ]),
)(
  'an event that is %s, recorded %s, costs its size and no multiple of its depth or width',
  async (_, __, body, options) => {
    const times = 2
    const { logged, written } = await deliver(body, options, times)
    expect(written).toBeLessThan(20 * body.length + 10_000)
    expect(logged).toBeLessThan(20 * body.length + 100_000)
  },
)

it('20 refused events of a long type are some lines of ordinary length', async () => {
  const { logged } = await deliver(BODIES['a type of 700 kB'], {}, 20)
  expect(logged).toBeLessThan(50_000)
})

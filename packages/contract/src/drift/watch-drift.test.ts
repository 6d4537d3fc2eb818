import { createReceiver, type Observation } from '@ackhook/core'
import { signedRequest } from '@ackhook/testing'
import { expect, it } from 'vitest'
import { recorded } from '../../test/recorded.ts'
import { type DriftOptions, type Recording, watchDrift } from '../index.ts'

const secret = 'whsec_0123456789abcdef'
const KNOWN = Array.from({ length: 12 }, (_, at) =>
  recorded('message.delivered', { message_id: `msg_${at}`, channel: 'sms', to: { phone: '+4915112345678' } }),
)

/** Creates a receiver that is watched, and delivers events to it. */
function watched(options: Partial<DriftOptions> = {}, receiving: object = {}) {
  const lines: string[] = []
  const log = (_: object, message: string) => void lines.push(message)
  const logger = { info: log, warn: log, error: log }
  const notices: string[] = []
  const observe = (one: Observation) => one.kind === 'notice' && notices.push(`${one.code}: ${one.message}`)
  const receiver = createReceiver({ secret, logger, observe: observe as never, ...receiving })
  const watch = watchDrift(receiver, { known: KNOWN, ...options })
  async function deliver({ event }: Pick<Recording, 'event'>, timestamp?: number): Promise<number> {
    const request = signedRequest(JSON.stringify(event), { secret, ...(timestamp && { timestamp }) })
    return (await receiver.handle({ ...request, context: undefined })).status
  }
  const kinds = () => watch.findings.map(({ kind, path }) => `${kind} ${path}`)
  return { deliver, watch, kinds, lines, notices }
}

const message = (data: object) =>
  recorded('message.delivered', { message_id: 'msg_1', channel: 'sms', to: { phone: '+49' }, ...data })

it('reports each difference once, as a warning and as a notice, without a value', async () => {
  const { deliver, kinds, lines, notices } = watched()
  for (let times = 0; times < 3; times++) {
    await deliver(message({}))
    await deliver(message({ channel: 'Secretchannel', to: { phone: null }, added: 'Private' }))
    await deliver(recorded('message.read', { text: 'Private' }))
    await deliver(recorded('message.read', { text: 'Private' }))
  }
  expect(kinds()).toEqual([
    'new-field data.added',
    'new-value data.channel',
    'changed-kind data.to.phone',
    'new-type undefined',
  ])
  expect(notices).toHaveLength(4)
  expect(notices[2]).toMatch(/^contract_drift: message\.delivered: data\.to\.phone may be null.*onInvalid/)
  for (const notice of notices) expect(lines).toContain(notice.replace('contract_drift: ', ''))
  expect([...lines, ...notices].join()).not.toMatch(/Private|Secretchannel/)
})

it('reports a further value of the same set', async () => {
  const { deliver, kinds } = watched()
  for (const channel of ['email', 'email', 'push', 'push', 'sms']) await deliver(message({ channel }))
  expect(kinds()).toEqual(['new-value data.channel', 'new-value data.channel'])
})

it('reports what the envelope or the schema then refuses', async () => {
  const { deliver, kinds } = watched()
  const { event } = message({})
  const { id, ...rest } = event as { readonly id: string }
  expect(await deliver({ event: { event_id: id, ...rest } })).toBe(400)
  expect(kinds()).toEqual(['renamed-field id'])
})

it('reports a unit of t that moved', async () => {
  const { deliver, watch } = watched()
  expect(await deliver(message({}), Date.now())).toBe(202)
  await deliver(message({}), Date.now())
  expect(watch.findings).toMatchObject([{ kind: 'moved-unit', path: 't' }])
})

it('compares under the names that contract.fields gives', async () => {
  const { deliver, kinds } = watched({}, { contract: { fields: { type: 'event' } } })
  const { type, ...rest } = message({ added: 1 }).event as { readonly type: string }
  expect(await deliver({ event: { ...rest, event: type } })).toBe(202)
  expect(kinds()).toEqual(['new-field data.added'])
})

it('ends after `most` findings, and says so', async () => {
  const { deliver, kinds, lines } = watched({ most: 2 })
  for (const name of ['count', 'price', 'title']) await deliver(message({ [name]: 1 }))
  expect(kinds()).toEqual(['new-field data.count', 'new-field data.price'])
  expect(lines.filter(line => line.startsWith('2 differences were found'))).toHaveLength(1)
})

it('ends when it is closed', async () => {
  const { deliver, watch } = watched()
  watch.close()
  await deliver(message({ added: 1 }))
  expect(watch.findings).toEqual([])
})

it.each([
  ['known', {}],
  ['known', { known: 'recorded' }],
  ['most', { known: [], most: 0 }],
  ['baseline', { known: [], baseline: [] }],
])('a wrong option %s is refused', (option, options) => {
  expect(() => watchDrift(createReceiver({ secret }), options as never)).toThrow(
    expect.objectContaining({ option }),
  )
})

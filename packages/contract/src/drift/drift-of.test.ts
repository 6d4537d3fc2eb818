import { expect, it } from 'vitest'
import { z } from 'zod'
import { recorded } from '../../test/recorded.ts'
import { driftOf, type Finding, type Recording } from '../index.ts'

const DATA = {
  message_id: 'msg_1',
  channel: 'sms',
  at: '2026-01-01T00:00:00Z',
  to: { phone: '+49', name: 'Anna' },
}
const known = [recorded('message.delivered', DATA)]
const drift = (data: object, more: Partial<Recording> = {}) =>
  driftOf(known, [recorded('message.delivered', data, more)])
const short = (findings: readonly Finding[]) =>
  findings.map(({ kind, path, isBreaking }) => `${kind} ${path}${isBreaking ? '!' : ''}`)
const without = <Name extends keyof typeof DATA>(name: Name) => {
  const { [name]: _, ...rest } = DATA
  return rest
}

it('finds nothing in deliveries that are as known', () => {
  expect(drift(DATA)).toEqual([])
  expect(driftOf(known, [])).toEqual([])
})

it.each([
  ['a new field', { ...DATA, team: 'x' }, ['new-field data.team']],
  ['a missing field', without('to'), ['missing-field data.to!']],
  [
    'a field that looks renamed',
    { ...without('channel'), channel_name: 'sms' },
    ['renamed-field data.channel!'],
  ],
  ['the only one of its kind', { ...without('to'), recipient: DATA.to }, ['renamed-field data.to!']],
  ['a rename inside', { ...DATA, to: { phone_number: '+49', name: 'A' } }, ['renamed-field data.to.phone!']],
  ['null', { ...DATA, to: { phone: '+49', name: null } }, ['changed-kind data.to.name!']],
  ['another kind', { ...DATA, message_id: 7 }, ['changed-kind data.message_id!']],
  ['a time that is a text', { ...DATA, at: 'yesterday' }, ['changed-kind data.at!']],
  ['a number beyond 2^53', { ...DATA, message_id: 2 ** 60 }, ['large-number data.message_id!']],
  ['no object', { ...DATA, to: '+49' }, ['changed-kind data.to!']],
])('finds %s', (_, data, expected) => {
  expect(short(drift(data))).toEqual(expected)
})

it('finds a field that is missing in some deliveries only', () => {
  const observed = [recorded('message.delivered', DATA), recorded('message.delivered', without('channel'))]
  expect(short(driftOf(known, observed))).toEqual(['optional-field data.channel!'])
})

it('finds a new type, and says nothing of one that has not come', () => {
  expect(driftOf(known, [recorded('message.read', DATA)])).toMatchObject([
    { kind: 'new-type', type: 'message.read', text: 'The type message.read is new' },
  ])
})

it('finds a time that moved from seconds to milliseconds, and not a number that grew', () => {
  const of = (at: number) => [recorded('a.b', { at })]
  expect(short(driftOf(of(1_767_225_600), of(1_767_225_600_000)))).toEqual(['moved-unit data.at!'])
  expect(driftOf(of(12), of(1_767_225_600_000))).toEqual([])
})

it('finds a value outside of a set that looks complete, and not one of a masked field', () => {
  const many = (status: string, kept: Recording['kept'] = ['data.status']) =>
    Array.from({ length: 12 }, () => recorded('a.b', { status }, { kept }))
  const [finding] = driftOf(many('sent'), many('failed'))
  expect(finding).toMatchObject({ kind: 'new-value', values: ['failed'], isBreaking: false })
  expect(finding?.text).toBe('data.status has a value outside of the one known')
  expect(driftOf(many('sent'), many('xxxxxx', []))).toEqual([])
  expect(driftOf(many('xxxx', []), many('sent'))).toEqual([])
  expect(driftOf(many('sent').slice(0, 3), many('failed'))).toEqual([])
})

it('finds a header, a label and a unit of the signature that moved, with the option to set', () => {
  const signature = { header: 'x-platform-signature', scheme: 'v2', timestampUnit: 'milliseconds' } as const
  expect(drift(DATA, { signature }).map(({ kind, fix }) => [kind, fix])).toEqual([
    ['moved-header', "contract: { header: 'x-platform-signature' }"],
    ['moved-label', "contract: { scheme: 'v2' }"],
    ['moved-unit', expect.stringContaining("contract: { timestampUnit: 'milliseconds' }")],
  ])
})

it('finds fields of the envelope that were renamed, and compares what is inside all the same', () => {
  const event = {
    event_id: 'evt_1',
    event: 'message.delivered',
    created_at: '2026-01-01T00:00:00Z',
    payload: { ...DATA, new: 1 },
  }
  const findings = driftOf(known, [recorded('', {}, { event })])
  expect(findings.map(({ kind, path, fix }) => `${kind} ${path}: ${fix}`)).toEqual([
    "renamed-field id: contract: { fields: { id: 'event_id' } }",
    "renamed-field type: contract: { fields: { type: 'event' } }",
    "renamed-field data: contract: { fields: { data: 'payload' } }",
    expect.stringContaining('new-field data.new'),
  ])
})

it('gives an upcast that compiles and restores the old name', () => {
  const [finding] = drift({ ...without('channel'), channel_name: 'sms' })
  expect(finding?.fix).toBe(
    "contract: { upcast: event => event.type === 'message.delivered' ? { ...event, data: { ...event.data, channel: event.data['channel_name'] } } : event }",
  )
  const { contract } = new Function(`return { ${finding?.fix} }`)()
  const event = { type: 'message.delivered', data: { channel_name: 'sms' } }
  expect(contract.upcast(event).data.channel).toBe('sms')
})

it('compares with declared schemas', () => {
  const schema = z.object({
    message_id: z.string(),
    channel: z.enum(['sms', 'email']),
    at: z.iso.datetime(),
    to: z.object({ phone: z.string(), name: z.string().nullable().optional() }),
    size: z.union([z.number(), z.string()]).optional(),
    parts: z
      .array(
        z.discriminatedUnion('kind', [
          z.object({ kind: z.literal('a'), x: z.number() }),
          z.object({ kind: z.literal('b') }),
        ]),
      )
      .optional(),
    extra: z.unknown(),
    labels: z.record(z.string(), z.number()).optional(),
  })
  const against = (data: object) =>
    short(driftOf({ 'message.delivered': schema }, [recorded('message.delivered', data)]))
  const fine = { ...DATA, extra: { any: 1 } }
  expect(against(fine)).toEqual([])
  expect(
    against({ ...fine, size: 1, labels: { foo: 1 }, parts: [{ kind: 'b' }, { kind: 'a', x: 1 }] }),
  ).toEqual([])
  expect(against({ ...fine, channel: 'push' })).toEqual(['new-value data.channel'])
  expect(against({ ...fine, at: 'no time', labels: { foo: 'x' }, size: true })).toEqual([
    'changed-kind data.at!',
    'changed-kind data.labels.foo!',
    'changed-kind data.size!',
  ])
  expect(against({ ...fine, parts: [{ kind: 'c' }] })).toEqual(['new-value data.parts[].kind'])
  expect(against({ ...fine, to: {} })).toEqual(['missing-field data.to.phone!'])
})

it('reads a schema that refers to itself', () => {
  interface Tree {
    name: string
    children: Tree[]
  }
  const tree: z.ZodType<Tree> = z.object({
    name: z.string(),
    get children() {
      return z.array(tree)
    },
  })
  const deep = { name: 'a', children: [{ name: 'b', children: [{ name: 3, children: [] }] }] }
  expect(short(driftOf({ 'a.b': tree }, [recorded('a.b', deep)]))).toEqual([
    'changed-kind data.children[].children[].name!',
  ])
})

it('refuses a schema that cannot be read, and names the way out', () => {
  const schema = { '~standard': { version: 1, vendor: 'own', validate: () => ({ value: 1 }) } } as const
  expect(() => driftOf({ 'a.b': schema as never }, [])).toThrow(/events\['a\.b'\].*toStandardJsonSchema/)
})

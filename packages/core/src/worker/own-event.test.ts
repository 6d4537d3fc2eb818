import { expect, it, vi } from 'vitest'
import { watch } from '../../../../test/support/receiving.ts'
import { NonRetryableError } from '../errors/errors.ts'
import type { WebhookEvent } from '../events/event-types.ts'

const DATA = { list: [3, 1, 2], inner: { name: 'Anna' } }
const arrived = expect.objectContaining({ id: 'evt_1', data: DATA })

/** Changes what it is given in every way that a handler does by mistake. */
function spoil(event: WebhookEvent): void {
  const { data } = event as unknown as { data: typeof DATA & Record<string, unknown> }
  data.list.sort()
  data.inner.name = 'changed'
  delete (data as Partial<typeof DATA>).inner
  Object.assign(event, { id: 'evt_2', type: 'x.y', extra: true })
}

/** Keeps a copy of what it is given, and then changes it. */
function keeper() {
  const kept: unknown[] = []
  return {
    kept,
    take(event: unknown): void {
      kept.push(structuredClone(event))
      spoil(event as WebhookEvent)
    },
  }
}

it.each([
  ['with the fields as published', {}],
  [
    'after an upcast that changes the parsed event',
    { contract: { upcast: (event: never) => Object.assign(event, { v: 2 }) } },
  ],
  ['with a schema that transforms', { events: { 'conversation.resolved': schemaOf(data => ({ ...data })) } }],
  [
    'with an asynchronous schema',
    { events: { 'conversation.resolved': schemaOf(async data => structuredClone(data)) } },
  ],
])('handlers see no change of another: %s', async (_, options) => {
  const { receiver, seen, send } = watch(options as never)
  const { kept, take } = keeper()
  receiver.on('conversation.resolved', take).on('conversation.*', async event => {
    await null
    take(event)
  })
  receiver.on('*', take).on('*', take)
  await send({ data: DATA })
  await vi.waitFor(() => expect(seen.map(({ kind }) => kind)).toContain('completed'))
  expect(kept).toEqual([arrived, arrived, arrived, arrived])
})

it('neither does another onUnhandled', async () => {
  const { receiver, seen, send } = watch()
  const { kept, take } = keeper()
  receiver.onUnhandled(take).onUnhandled(take)
  await send({ data: DATA })
  await vi.waitFor(() => expect(seen.map(({ kind }) => kind)).toContain('completed'))
  expect(kept).toEqual([arrived, arrived])
})

it.each(['immediately', 'after-processing'] as const)(
  'later attempts, onError and onDeadLetter see the event as it arrived, acknowledged %s',
  async acknowledge => {
    const retry = acknowledge === 'immediately' ? { retry: { attempts: 2, minDelay: '1ms' } } : {}
    const { receiver, send } = watch({ acknowledge, ...retry } as never)
    const { kept, take } = keeper()
    const attempts = acknowledge === 'immediately' ? 2 : 1
    let runs = 0
    receiver.on('conversation.resolved', event => {
      take(event)
      if (++runs === 2 || acknowledge === 'after-processing') throw new NonRetryableError('never')
      throw new Error('no')
    })
    const dead = vi.fn()
    for (let i = 0; i < 2; i++)
      receiver
        .onError((_, event) => take(event))
        .onDeadLetter(({ delivery }, event) => {
          expect(delivery.event).toBeUndefined()
          expect(new TextDecoder().decode(delivery.body)).toContain('Anna')
          delivery.body.fill(0)
          take(event)
          dead()
        })
    await send({ data: DATA })
    await vi.waitFor(() => expect(dead).toHaveBeenCalledTimes(2))
    expect(kept).toEqual(Array(attempts + 2 * (attempts - 1) + 2).fill(arrived))
  },
)

it('a serializeBy or concurrency.by that changes the event does not change it for handlers', async () => {
  const sort = ({ data }: WebhookEvent): string => String((data['list'] as number[]).sort()[0])
  const { receiver, seen, send } = watch({
    serializeBy: sort,
    concurrency: { total: 2, by: sort, perGroup: 1 },
  })
  const { kept, take } = keeper()
  receiver.on('*', take)
  await send({ data: DATA })
  await vi.waitFor(() => expect(seen.map(({ kind }) => kind)).toContain('completed'))
  expect(kept).toEqual([arrived])
})

it('one handler costs no second parse', async () => {
  const parse = vi.spyOn(JSON, 'parse')
  const { receiver, seen, send } = watch()
  receiver.on('*', () => {})
  await send({ data: DATA })
  await vi.waitFor(() => expect(seen.map(({ kind }) => kind)).toContain('completed'))
  expect(parse.mock.calls.filter(([text]) => String(text).includes('Anna'))).toHaveLength(1)
  parse.mockRestore()
})

it('no handler runs if the event of one cannot be read', async () => {
  let checks = 0
  const flaky = schemaOf(data => {
    if (++checks === 3) throw new Error('out of reach')
    return data
  })
  const { receiver, seen, send } = watch({
    events: { 'conversation.resolved': flaky },
    retry: { attempts: 2, minDelay: '1ms' },
  } as never)
  const handler = vi.fn()
  for (let i = 0; i < 3; i++) receiver.on('*', handler)
  await send({ data: DATA })
  await vi.waitFor(() => expect(seen.map(({ kind }) => kind)).toContain('completed'))
  expect(seen.filter(({ kind }) => kind === 'attempt_failed')).toMatchObject([
    { error: { code: 'event_invalid' } },
  ])
  expect(handler).toHaveBeenCalledTimes(3)
})

function schemaOf(transform: (data: Record<string, unknown>) => unknown) {
  const validate = (data: unknown) => {
    const value = transform(data as Record<string, unknown>)
    return value instanceof Promise ? value.then(done => ({ value: done })) : { value }
  }
  return { '~standard': { version: 1 as const, vendor: 'test', validate } }
}

import { afterAll, describe, expect, test, vi } from 'vitest'
import { startEmulator } from '../src/index.ts'
import { DescribedApi } from './described-api.ts'
import { after, answering, SECRET, start } from './set-up.ts'

let operations: readonly string[] = []
afterAll(() => {
  // The stream has tests of its own.
  const called = new Set([...DescribedApi.called, 'GET /_emulator/v1/stream'])
  expect(operations.filter(one => !called.has(one))).toEqual([])
})

async function running(options: Parameters<typeof start>[0] = {}, statuses: number[] = []) {
  const receiver = await answering(statuses)
  const { emulator, http, clock } = await start({ to: receiver.url, ...options })
  operations = http.operations
  const send = async (...types: string[]) => {
    const { body } = await http.post('/events', { events: types.map(type => ({ type })) })
    return body.events as { id: string; deliveries: { id: string }[] }[]
  }
  return { receiver, emulator, http, clock, send }
}

describe('events and deliveries', () => {
  test('events are accepted together, and found by each filter', async () => {
    const { http, send, emulator } = await running({}, [500])
    const [first] = await send('conversation.resolved')
    await emulator.wait({ status: 500 })
    await send('call.started', 'call.missed')
    await emulator.wait({ category: 'call', state: 'acknowledged', count: 2 })
    const found = async (query: string) => {
      const { body } = await http.get(`/deliveries?${query}`)
      return body.deliveries.map((one: { type: string }) => one.type)
    }
    expect(await found('')).toEqual(['call.missed', 'call.started', 'conversation.resolved'])
    expect(await found('workspace=default&category=call')).toEqual(['call.missed', 'call.started'])
    expect(await found('workspace=other')).toEqual([])
    expect(await found('type=call.missed')).toEqual(['call.missed'])
    expect(await found('state=pending')).toEqual(['conversation.resolved'])
    expect(await found('status=500')).toEqual(['conversation.resolved'])
    expect(await found(`event=${first?.id}`)).toEqual(['conversation.resolved'])
    expect(await found('kind=replay')).toEqual([])
    expect(await found('from=2026-03-01T12:00:00Z&to=2026-03-01T12:00:01Z')).toHaveLength(3)
    expect(await found('from=2026-03-01T12:00:01Z')).toEqual([])
    expect(await found('from=24h&to=now')).toEqual([])
    expect(await found('from=24h')).toHaveLength(3)
    expect(await found('to=yesterday')).toEqual([])
    expect(await found('type=call.*')).toEqual(['call.missed', 'call.started'])
    expect(await found('type=call')).toEqual([])
    expect(await found('type=*')).toHaveLength(3)
    expect(await found('type=call.*&text=agent_id')).toEqual(await found('category=call&text=agent_id'))
    expect(await found('text=WhatsApp')).toEqual(['conversation.resolved'])
    expect(await found('text=%22channel%22%3A')).toEqual(['conversation.resolved'])
    expect(await found('text=whatsapp&state=acknowledged')).toEqual([])
  })

  test('events are listed, grouped by their failure, and sent and stopped in batches, over HTTP', async () => {
    const { http, emulator } = await running({ delivery: { attempts: 1 } }, [500])
    const started = await http.post('/batches', {
      ...{ action: 'send', count: 2, perSecond: 1000 },
      event: { type: 'a.b', data: { conversation_id: 'cnv_1' } },
    })
    expect(started).toMatchObject({ status: 202, body: { action: 'send', about: 'a.b', total: 2 } })
    const path = `/batches/${started.body.id}`
    await vi.waitFor(async () =>
      expect((await http.get(path)).body).toMatchObject({ state: 'done', acknowledged: 1, waiting: 0 }),
    )
    expect((await http.post(`${path}/stop`, {})).body.state).toBe('done')
    expect((await http.get('/batches')).body.batches).toHaveLength(1)
    expect((await http.get('/batches/bat_unknown')).status).toBe(404)
    const { body: listed } = await http.get('/events?since=1h&limit=1')
    expect(listed).toMatchObject({ events: [{ type: 'a.b' }], next: expect.any(String) })
    const { body: grouped } = await http.get('/undelivered/groups?type=a.*')
    expect(grouped).toMatchObject({ counted: 1, groups: [{ type: 'a.b', reply: '500 code_500', count: 1 }] })
    const id = grouped.groups[0].sample.id
    const { body: fields } = await http.post('/deliveries/fields', { ids: [id], name: 'conversation_id' })
    expect(fields).toEqual({ values: { [id]: 'cnv_1' } })
    expect((await http.post('/deliveries/fields', { ids: 'all', name: 'x' })).status).toBe(400)
    expect((await http.get(`/deliveries/${id}/receiver`)).body).toMatchObject({
      dashboard: null,
      error: null,
    })
    await emulator.wait()
  })

  test('an invalid filter is refused with the name of the field', async () => {
    const { http } = await running()
    for (const [query, field] of [
      ['text=ab', 'text'],
      ['text=%F0%9F%98%80a', 'text'],
      ['state=lost', 'state'],
      ['status=,', 'status'],
      ['from=soon', 'from'],
      ['type=call*', 'type'],
      ['type=call.missed.*', 'type'],
      ['limit=201', 'limit'],
      ['limit=0', 'limit'],
      ['after=x', 'after'],
      ['order=type', 'order'],
      ['color=red', 'color'],
    ]) {
      const { status, body } = await http.get(`/deliveries?${query}`)
      expect([query, status, body.error?.field]).toEqual([query, 400, field])
    }
  })

  test('a type pattern works the same in an endpoint, a wait and a replay', async () => {
    const { http, send, emulator, receiver } = await running()
    await http.put('/workspaces/default/endpoint', { types: ['call.*'] })
    await send('conversation.resolved', 'call.missed', 'call')
    expect(await emulator.wait({ type: 'call.*', state: 'acknowledged' })).toMatchObject({ count: 1 })
    expect(receiver.got.map(one => one.event.type)).toEqual(['call.missed'])
    const bulk = { filter: { type: 'call.*', state: 'acknowledged' }, dryRun: true }
    expect((await http.post('/deliveries/replay', bulk)).body.matched).toBe(1)
    const { status, body } = await http.put('/workspaces/default/endpoint', { types: ['call*'] })
    expect([status, body.error.field]).toEqual([400, 'types'])
  })

  test('pages follow each other without a gap in both orders, with at most 200 deliveries each', async () => {
    const { http, send, emulator } = await running()
    for (let i = 0; i < 3; i++) await send(...Array.from({ length: 100 }, () => 'call.started'))
    await emulator.wait()
    const walk = async (order: string) => {
      const seen: number[] = []
      let next: string | null = ''
      while (next !== null) {
        const { body } = await http.get(`/deliveries?limit=200&order=${order}${next && `&after=${next}`}`)
        expect(body.deliveries.length).toBeLessThanOrEqual(200)
        seen.push(...body.deliveries.map((one: { seq: number }) => one.seq))
        next = body.next
      }
      return seen
    }
    expect(await walk('newest')).toEqual(Array.from({ length: 300 }, (_, i) => 300 - i))
    expect(await walk('oldest')).toEqual(Array.from({ length: 300 }, (_, i) => i + 1))
  })

  test('a delivery has its exact bytes, as text and as a download', async () => {
    const { http, emulator, receiver } = await running()
    const body =
      '{ "id": "evt_exact", "type": "call.started", "data": { "price": 1.10, "big": 12345678901234567890 } }'
    const sent = await http.post('/events', { events: [{ body }] })
    await emulator.wait()
    const { id } = sent.body.events[0].deliveries[0]
    expect((await http.get(`/deliveries/${id}`)).body.body).toEqual({ text: body, base64: null })
    const download = await http.get(`/deliveries/${id}/body`)
    expect(download.body).toBe(body)
    expect(download.headers.get('content-disposition')).toBe(`attachment; filename="${id}.json"`)
    expect(receiver.got[0]?.body).toBe(body)
  })

  test('rawData reaches the receiver unchanged, without sample data', async () => {
    const { http, emulator, receiver } = await running()
    const rawData = '{ "big": 12345678901234567890, "one": 1.0, "thousand": 1e3, "u": "\\u00e9" }'
    const event = {
      id: 'evt_raw',
      type: 'conversation.resolved',
      created_at: '2026-03-01T11:00:00.000Z',
      rawData,
    }
    expect((await http.post('/events', { events: [event] })).status).toBe(202)
    await emulator.wait()
    expect(receiver.got[0]?.body).toBe(
      `{"id":"evt_raw","type":"conversation.resolved","created_at":"2026-03-01T11:00:00.000Z","data":${rawData}}`,
    )
    await emulator.api.send('call.started', { rawData: '{"n":1.10}' })
    await emulator.wait()
    expect(receiver.got[1]?.body).toMatch(/"data":\{"n":1\.10\}\}$/)
  })

  test("rawData is in the contract's data field", async () => {
    const { http, emulator, receiver } = await running({ delivery: { fields: { data: 'payload' } } })
    await http.post('/events', { events: [{ type: 'call.started', rawData: '{"n":1.0}' }] })
    await emulator.wait()
    expect(receiver.got[0]?.body).toMatch(/"payload":\{"n":1\.0\}\}$/)
  })

  test('the same seed gives the same sample data, with another id', async () => {
    const { http, emulator, receiver } = await running()
    const seeded = (seed: number) => ({ type: 'conversation.resolved', seed })
    await http.post('/events', { events: [seeded(7), seeded(7), seeded(8)] })
    await emulator.wait()
    const [one, two, other] = receiver.got.map(({ event }) => event)
    expect(two.data).toEqual(one.data)
    expect(two.id).not.toBe(one.id)
    expect(other.data.conversation_id).not.toBe(one.data.conversation_id)
    expect(one).not.toHaveProperty('seed')
  })

  test('an invalid event is refused with all events of its call', async () => {
    const { http } = await running()
    const wrong = async (events: unknown, field: string) => {
      const { status, body } = await http.post('/events', { events } as object)
      expect([status, body.error.field]).toEqual([400, field])
    }
    await wrong([], 'events')
    await wrong('x', 'events')
    await wrong([{}], 'type')
    await wrong([{ type: 'call.started' }, { type: 'call.started', data: [] }], 'data')
    await wrong([{ type: 'call.started', rawData: '{' }], 'rawData')
    await wrong([{ type: 'call.started', rawData: '[]' }], 'rawData')
    await wrong([{ type: 'call.started', rawData: {} }], 'rawData')
    await wrong([{ type: 'call.started', rawData: '{}', data: {} }], 'rawData')
    await wrong([{ type: 'call.started', seed: -1 }], 'seed')
    await wrong([{ body: 'not json' }], 'body')
    await wrong([{ body: '{"id":"evt_1"}' }], 'body')
    expect((await http.get('/deliveries')).body.deliveries).toEqual([])
    const large = { body: JSON.stringify({ id: 'evt_1', type: 'a.b', data: 'x'.repeat(262_144) }) }
    expect((await http.post('/events', { events: [large] })).status).toBe(413)
    const missing = await http.post('/events', { events: [{ type: 'a.b' }], workspace: 'missing' })
    expect(missing.status).toBe(404)
    expect((await http.get('/deliveries/dlv_missing')).status).toBe(404)
    expect((await http.get('/deliveries/dlv_missing/body')).status).toBe(404)
  })

  test('returns the exact last request as a file, and 409 before the first attempt', async () => {
    const { emulator, http } = await start({ to: (await answering()).url })
    await emulator.api.endpoints.pause()
    const sent = await emulator.api.sendAll([{ body: '{"id":"evt_f","type":"a.b","price":1.10}' }])
    const path = `/deliveries/${sent[0]?.deliveries[0]?.id}/request`
    expect((await http.get(path)).status).toBe(409)
    expect((await http.get('/deliveries/dlv_missing/request')).status).toBe(404)
    await emulator.api.endpoints.resume()
    await emulator.wait()
    const { body } = await http.get(path)
    expect(Buffer.from(body.body, 'base64').toString()).toBe('{"id":"evt_f","type":"a.b","price":1.10}')
    expect(body.headers).toContainEqual(['x-service-signature', expect.stringMatching(/^t=\d+,v1=/)])
  })
})

describe('replay', () => {
  test('repeats the exact request, or sends an edited event with a new id', async () => {
    const { http, send, emulator, receiver, clock } = await running()
    const [event] = await send('conversation.resolved')
    const id = event?.deliveries[0]?.id
    await emulator.wait()
    clock.advance('5m')
    const signed = await http.post(`/deliveries/${id}/replay`)
    expect(signed).toMatchObject({ status: 202, body: { kind: 'replay', origin: id, event: event?.id } })
    await emulator.wait()
    await http.post(`/deliveries/${id}/replay`, { mode: 'exact' })
    await emulator.wait()
    const [first, second, third] = receiver.got
    expect(second?.body).toBe(first?.body)
    expect(second?.headers['x-service-signature']).not.toBe(first?.headers['x-service-signature'])
    expect(third?.headers['x-service-signature']).toBe(first?.headers['x-service-signature'])
    const text = first?.body.replace('whatsapp', 'sms')
    const edited = await http.post(`/deliveries/${id}/replay`, { mode: 'edited', body: text })
    expect(edited.body.event).not.toBe(event?.id)
    await emulator.wait()
    expect(receiver.got[3]?.event).toMatchObject({ id: edited.body.event, data: { channel: 'sms' } })
    const another = await http.post(`/deliveries/${id}/replay`, { mode: 'edited', data: { a: 1 } })
    await emulator.wait()
    expect(receiver.got[4]?.event).toMatchObject({
      id: another.body.event,
      data: { a: 1, channel: 'whatsapp' },
    })
  })

  test('an edit leaves all other text unchanged', async () => {
    const { http, emulator, receiver } = await running()
    const body = '{ "type": "a.b", "price": 1.10, "id": "evt_1", "data": { "big": 12345678901234567890 } }'
    const sent = await http.post('/events', { events: [{ body }] })
    await emulator.wait()
    const path = `/deliveries/${sent.body.events[0].deliveries[0].id}/replay`
    const raw = await http.post(path, { mode: 'edited', rawData: '{"n": 1e3}' })
    await emulator.wait()
    expect(receiver.got[1]?.body).toBe(
      `{ "type": "a.b", "price": 1.10, "id": "${raw.body.event}", "data": {"n": 1e3} }`,
    )
    const merged = await http.post(path, { mode: 'edited', data: { more: [true] } })
    await emulator.wait()
    expect(receiver.got[2]?.body).toBe(
      body.replace('evt_1', merged.body.event).replace('890 }', '890 ,"more":[true]}'),
    )
    const whole = await http.post(path, { mode: 'edited', body: body.replace('1.10', '1.20') })
    await emulator.wait()
    expect(receiver.got[3]?.body).toBe(body.replace('evt_1', whole.body.event).replace('1.10', '1.20'))
  })

  test('replays by filter: counts first, works in pages, and does not repeat deliveries that fail again', async () => {
    const { http, send, emulator, receiver } = await running({ delivery: { attempts: 1 } })
    receiver.otherwise = 500
    await send('call.started', 'call.missed', 'conversation.resolved', 'call.completed')
    await emulator.wait()
    const filter = { category: 'call', state: 'undelivered' }
    const dry = await http.post('/deliveries/replay', { filter, dryRun: true })
    expect(dry.body).toMatchObject({ matched: 3, done: 0 })
    expect(receiver.got).toHaveLength(4)
    const first = await http.post('/deliveries/replay', { filter, limit: 2 })
    expect(first.body).toMatchObject({ matched: 3, done: 2 })
    await emulator.wait()
    const second = await http.post('/deliveries/replay', { filter, limit: 2, after: first.body.next })
    expect(second.body).toMatchObject({ done: 1, next: null })
    await emulator.wait()
    // Each of the three failed again as a new delivery, and the originals are no longer undelivered.
    expect((await http.get('/undelivered')).body.deliveries).toHaveLength(4)
    const replayed = (await http.get('/deliveries?state=replayed')).body.deliveries
    expect(replayed).toHaveLength(3)
    expect(replayed[0].reason).toMatch(/^replayed as dlv_/)
    receiver.otherwise = 200
    const all = await http.post('/deliveries/replay')
    expect(all.body).toEqual({ matched: 4, done: 4, next: null, batch: expect.any(String) })
    await emulator.wait()
    expect((await http.get('/undelivered?category=call')).body.deliveries).toEqual([])
    expect((await http.post('/deliveries/replay', { after: 'x' })).status).toBe(400)
  })

  test('undelivered and pending deliveries can be discarded, and a retry can start early', async () => {
    const { http, send, emulator, receiver } = await running({ delivery: { attempts: 2 } }, [500, 500])
    const [one, two] = await send('call.started', 'call.missed')
    await emulator.wait({ status: 500, count: 2 })
    expect((await http.post(`/deliveries/${one?.deliveries[0]?.id}/retry`)).status).toBe(202)
    await emulator.wait({ state: 'acknowledged' })
    expect(receiver.got).toHaveLength(3)
    const discarded = await http.post(`/deliveries/${two?.deliveries[0]?.id}/discard`)
    expect(discarded.body).toMatchObject({ state: 'discarded', reason: 'discarded on request' })
    expect((await http.post(`/deliveries/${two?.deliveries[0]?.id}/discard`)).status).toBe(409)
    expect((await http.post(`/deliveries/${two?.deliveries[0]?.id}/retry`)).status).toBe(409)
    receiver.otherwise = 500
    await send('call.started')
    await emulator.api.clock.advance('1h')
    expect((await http.post('/deliveries/discard', { dryRun: true })).body).toMatchObject({
      matched: 1,
      done: 0,
    })
    expect((await http.post('/deliveries/discard')).body).toMatchObject({ matched: 1, done: 1 })
    expect((await http.get('/health')).body.counts).toMatchObject({
      undelivered: 0,
      discarded: 2,
      pending: 0,
    })
  })

  test('an impossible replay changes nothing', async () => {
    const { http, send, emulator, receiver } = await running({ delivery: { attempts: 1 } })
    receiver.otherwise = 500
    const [event] = await send('call.started')
    await emulator.wait()
    const id = event?.deliveries[0]?.id
    for (const body of [
      { mode: 'edited' },
      { mode: 'again' },
      { body: '{}' },
      { mode: 'edited', body: '{}' },
      { mode: 'edited', data: [] },
      { mode: 'edited', rawData: '[]' },
      { mode: 'edited', rawData: '{}', data: {} },
      { rawData: '{}' },
    ]) {
      expect((await http.post(`/deliveries/${id}/replay`, body)).status).toBe(400)
    }
    await http.delete('/workspaces/default/endpoint')
    expect((await http.post(`/deliveries/${id}/replay`)).status).toBe(404)
    expect((await http.post('/deliveries/replay')).status).toBe(404)
    expect((await http.get('/health')).body.counts).toMatchObject({ undelivered: 1, pending: 0, replayed: 0 })
  })
})

describe('messages', () => {
  const message = { channel: 'whatsapp', to: '+4915112345678', template: 'order_shipped' }
  const post = (
    http: DescribedApi,
    body: object,
    headers: Record<string, string> = { authorization: 'Bearer k' },
  ) => http.call('POST', '/v1/messages', body, headers)

  test('only the four published fields are checked', async () => {
    const { http } = await running()
    const accepted = await post(http, { ...message, variables: { order: 'A-1' }, more: true })
    expect(accepted).toMatchObject({ status: 202, body: { id: expect.stringMatching(/^msg_/) } })
    expect(accepted.headers.get('x-emulator-guess')).toBe('true')
    for (const [change, field] of [
      [{ channel: undefined }, 'channel'],
      [{ channel: 1 }, 'channel'],
      [{ to: '4915112345678' }, 'to'],
      [{ to: '+49 151' }, 'to'],
      [{ template: '' }, 'template'],
      [{ variables: [] }, 'variables'],
      [{ variables: 'x' }, 'variables'],
    ] as const) {
      const { status, body, headers } = await post(http, { ...message, ...change })
      expect([status, body.error.field, headers.get('x-emulator-guess')]).toEqual([400, field, 'true'])
    }
    expect((await post(http, message, {})).status).toBe(401)
    expect((await post(http, message, { authorization: 'Basic eA==' })).status).toBe(401)
  })

  test('a message can be advanced, and each step sends an event of a guessed type', async () => {
    const { http, emulator, receiver } = await running()
    const { id } = (await post(http, message)).body
    expect((await http.get(`/messages/${id}`)).body).toMatchObject({
      ...message,
      state: 'accepted',
      guess: true,
    })
    for (const to of ['sent', 'delivered', 'read', 'failed']) {
      const { body } = await http.post(`/messages/${id}/advance`, { to })
      expect(body).toMatchObject({
        message: { state: to },
        event: { deliveries: [{ guess: true, message: id }] },
      })
      await emulator.wait({ type: `message.${to}`, state: 'acknowledged' })
    }
    expect(receiver.got.map(one => one.event.type)).toEqual([
      'message.sent',
      'message.delivered',
      'message.read',
      'message.failed',
    ])
    expect(receiver.got[0]?.event.data.message_id).toBe(id)
    expect((await http.get(`/deliveries?message=${id}`)).body.deliveries).toHaveLength(4)
    expect((await http.post(`/messages/${id}/advance`, { to: 'lost' })).status).toBe(400)
    expect((await http.post('/messages/msg_missing/advance', { to: 'sent' })).status).toBe(404)
    expect((await http.get('/messages/msg_missing')).status).toBe(404)
  })

  test('an inbound message sends an event', async () => {
    const { http, emulator, receiver } = await running()
    const { body } = await http.post('/messages/inbound', { from: '+4915112345678', text: 'Where is it?' })
    expect(body.message).toMatchObject({ direction: 'inbound', from: '+4915112345678', text: 'Where is it?' })
    await emulator.wait({ state: 'acknowledged' })
    expect(receiver.got[0]?.event).toMatchObject({ type: 'message.received', data: { text: 'Where is it?' } })
    expect((await http.post(`/messages/${body.message.id}/advance`, { to: 'read' })).status).toBe(409)
    expect((await http.post('/messages/inbound', { from: 'x', text: 'y' })).body.error.field).toBe('from')
    await post(http, message)
    const { messages, next } = (await http.get('/messages?limit=1')).body
    expect(messages).toMatchObject([{ direction: 'outbound' }])
    const oldest = (await http.get('/messages?order=oldest')).body.messages
    expect(oldest).toEqual((await http.get('/messages')).body.messages.toReversed())
    expect((await http.get(`/messages?after=${next}`)).body.messages).toMatchObject([
      { direction: 'inbound' },
    ])
  })

  test('the reply can be configured', async () => {
    const { http } = await running({
      messageReply: { status: 201, body: { message: { ref: 'm/$id' }, list: ['$id', 1] } },
    })
    const { status, body } = await post(http, message)
    const { id } = (await http.get('/messages')).body.messages[0]
    expect([status, body]).toEqual([201, { message: { ref: `m/${id}` }, list: [id, 1] }])
  })
})

describe('other calls', () => {
  test('health, settings and statistics', async () => {
    const { http, send, emulator } = await running()
    await send('call.started', 'conversation.resolved')
    await emulator.wait()
    expect((await http.get('/health')).body).toMatchObject({
      status: 'ready',
      now: '2026-03-01T12:00:00.000Z',
      counts: { acknowledged: 2 },
      warnings: [],
      endpoints: [{ workspace: 'default', status: 'healthy', attempts: 2, failures: 0 }],
    })
    const { settings, categories } = (await http.get('/settings')).body
    expect(categories).toContain('conversation')
    const published = settings.filter((one: { published: boolean }) => one.published)
    expect(published.map((one: { name: string }) => one.name)).toEqual(['delivery.header', 'delivery.scheme'])
    const settingOf = (name: string) => settings.find((one: { name: string }) => one.name === name)?.value
    expect([settingOf('limits.eventBytes'), settingOf('limits.phoneNumber')]).toEqual([
      262_144,
      '^\\+\\d{1,15}$',
    ])
    const stats = (await http.get('/stats?buckets=4')).body
    expect(stats.buckets.map((one: { counts: object }) => one.counts)).toEqual([
      {},
      {},
      {},
      { acknowledged: 2 },
    ])
    const call = (await http.get('/stats?buckets=1&category=call')).body
    expect(call.buckets[0].counts).toEqual({ acknowledged: 1 })
    expect((await http.get('/stats?from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z')).status).toBe(400)
  })

  test('a wait ends when enough different events match, or with the matches so far at the timeout', async () => {
    const { http, send } = await running({ faults: { duplicate: true } })
    const waiting = http.post('/wait', { state: 'acknowledged', count: 2, timeout: '20s' })
    await send('call.started')
    await http.post('/wait', { idle: true })
    await send('call.missed')
    const { body } = await waiting
    expect(body).toMatchObject({ met: true, count: 2 })
    expect(body.deliveries.length).toBeGreaterThanOrEqual(2)
    const late = await http.post('/wait', { type: 'call.completed', timeout: '20ms' })
    expect(late.body).toEqual({ met: false, count: 0, deliveries: [] })
    for (const [wrong, field] of [
      [{ timeout: '61s' }, 'timeout'],
      [{ count: 0 }, 'count'],
      [{ text: 'x' }, 'text'],
      [{ until: 'x' }, 'until'],
    ] as const) {
      expect((await http.post('/wait', wrong)).body.error.field).toBe(field)
    }
  })

  test('in-process, a wait that times out rejects and reports the state of the log', async () => {
    const { emulator, send } = await running()
    await send('call.started')
    await emulator.wait()
    await expect(emulator.wait({ type: 'call.missed', timeout: '10ms' })).rejects.toMatchObject({
      code: 'wait_timeout',
      message: expect.stringContaining('1 acknowledged'),
    })
  })

  test('the clock moves only forward, and reset restores it and empties the log', async () => {
    const { http, send, emulator } = await running()
    expect((await http.get('/clock')).body.now).toBe('2026-03-01T12:00:00.000Z')
    expect((await http.post('/clock/advance', { by: '90m' })).body.now).toBe('2026-03-01T13:30:00.000Z')
    expect((await http.post('/clock/advance', { by: '-1m' })).status).toBe(400)
    expect((await http.post('/clock/advance')).status).toBe(400)
    await http.put('/faults', { tamper: true })
    expect((await http.get('/faults')).body).toEqual({ tamper: true })
    expect((await http.put('/faults', { rotation: {} })).status).toBe(400)
    expect((await http.put('/faults', { tamper: 2 })).body.error.field).toBe('faults.tamper')
    await http.post('/workspaces', { id: 'team-a' })
    await send('call.started')
    await emulator.wait({ kind: 'event' })
    expect((await http.post('/reset')).status).toBe(204)
    expect((await http.get('/deliveries')).body.deliveries).toEqual([])
    expect((await http.get('/faults')).body).toEqual({})
    expect((await http.get('/workspaces')).body.workspaces).toHaveLength(2)
    await http.post('/reset', { everything: true })
    const { workspaces } = (await http.get('/workspaces')).body
    expect(workspaces).toMatchObject([{ id: 'default', endpoint: { secret: `••••${SECRET.slice(-4)}` } }])
  })

  test("the machine's clock can be advanced too", async () => {
    const receiver = await answering([500])
    const emulator = await startEmulator({ port: 0, to: receiver.url, secret: SECRET })
    after(() => emulator.close())
    await emulator.api.send('call.started')
    await emulator.wait({ status: 500 })
    const before = Date.now()
    const now = Date.parse(await emulator.api.clock.advance('1h'))
    expect(now).toBeGreaterThanOrEqual(before + 3_600_000)
    await emulator.wait({ state: 'acknowledged' })
    const [, second] = receiver.got
    const [, t] = /^t=(\d+),/.exec(String(second?.headers['x-service-signature'])) ?? []
    expect(Number(t)).toBeGreaterThan(before / 1000)
    await emulator.reset()
    expect(Date.parse(await emulator.api.clock.now())).toBeLessThan(before + 3_000_000)
  })

  test('each workspace has its own endpoint', async () => {
    const { http, emulator, receiver } = await running()
    expect((await http.post('/workspaces', { id: 'team-a' })).status).toBe(201)
    expect((await http.post('/workspaces', { id: 'team a' })).status).toBe(400)
    const path = '/workspaces/team-a/endpoint'
    expect((await http.get(path)).status).toBe(404)
    const { body } = await http.put(path, { url: receiver.url, categories: ['call'] })
    expect(body.secret).toMatch(/^whsec_/)
    expect(body.endpoint.secret).toBe(`••••${body.secret.slice(-4)}`)
    expect((await http.get(path)).body.categories).toEqual(['call'])
    await http.post('/events', {
      workspace: 'team-a',
      events: [{ type: 'call.started' }, { type: 'contact.updated' }],
    })
    await emulator.wait()
    expect(receiver.got).toHaveLength(1)
    expect((await http.get('/deliveries?workspace=team-a&state=skipped')).body.deliveries[0].reason).toBe(
      'the endpoint has not subscribed to contact events',
    )
    expect((await http.post(`${path}/pause`)).body.paused).toBe(true)
    expect((await http.post(`${path}/resume`)).body.paused).toBe(false)
    expect((await http.post(`${path}/rotate-secret`, { overlap: '1h' })).body.secret).toMatch(/^whsec_/)
    expect((await http.delete('/workspaces/team-a')).status).toBe(204)
    expect((await http.delete('/workspaces/team-a')).status).toBe(404)
    expect((await http.delete('/workspaces/default')).status).toBe(409)
    expect((await http.get('/openapi.json')).body.info.version).toMatch(/^\d/)
  })

  test('in-process, a missing id is refused like an unknown one', async () => {
    const { api } = (await running()).emulator
    const missing = undefined as never
    await expect(api.deliveries.get(missing)).rejects.toMatchObject({ code: 'not_found' })
    await expect(api.messages.get(missing)).rejects.toMatchObject({ code: 'not_found' })
    await expect(api.workspaces.create(missing)).rejects.toMatchObject({ field: 'workspace' })
  })
})

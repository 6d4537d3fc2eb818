import { runInNewContext } from 'node:vm'
import { createReceiver, memoryInbox } from '@ackhook/core'
import { createEvent, signedRequest } from '@ackhook/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type DashboardOptions, dashboard } from '../src/index.ts'
import type { EventPage, EventRow, Finding, Here, Overview, Problem } from '../src/protocol/protocol.ts'
import { SLASH_SCRIPT } from '../src/security/page-headers.ts'
import { dead, withLetters } from './with-letters.ts'

const ORIGIN = 'http://app.test/ops/webhooks/'
const JSON_CALL = { 'content-type': 'application/json', 'x-ackhook': '1' }

function pagesOf(options: Partial<DashboardOptions>) {
  const pages = dashboard({ authorize: () => 'admin', ...options })
  const call = (path: string, init: RequestInit = {}) =>
    pages.fetch(new Request(ORIGIN + path, init), undefined)
  return {
    call,
    get: async <T>(path: string) => (await (await call(path)).json()) as T,
    post: (path: string, body: unknown, headers: Record<string, string> = JSON_CALL) =>
      call(path, { method: 'POST', headers, body: JSON.stringify(body) }),
  }
}

describe('the overview', () => {
  it("counts the inbox's events, and this process's observations and refusals, without payloads", async () => {
    const letters = withLetters()
    const { get } = pagesOf({ receiver: letters.receiver })
    await dead(letters, ['evt_1'])
    await letters.receiver.handle({ method: 'GET', headers: {}, body: new Uint8Array(), context: undefined })
    const overview = await get<Overview>('api/overview')
    expect(overview).toMatchObject({ role: 'admin', stats: { pending: 0, active: 0, dead: 1 } })
    expect(overview.here?.refusals).toMatchObject([{ code: 'method_not_allowed', status: 405, count: 1 }])
    expect(overview.here?.observations.map(line => line.kind)).toEqual([
      'rejected',
      'dead_lettered',
      'accepted',
    ])
    expect(JSON.stringify(overview)).not.toContain('cnv_1')
  })

  it('keeps the last 500 observations, newest first', async () => {
    const letters = withLetters()
    letters.broken = false
    const { get } = pagesOf({ receiver: letters.receiver })
    for (let n = 0; n < 300; n++) await letters.send(`evt_${n}`)
    await vi.waitFor(() => expect(letters.seen.filter(one => one.kind === 'completed')).toHaveLength(300))
    const { observations } = (await get<Overview>('api/overview')).here as Here
    expect(observations).toHaveLength(500)
    expect(observations[0]).toMatchObject({ kind: 'completed', id: 'evt_299' })
  })

  it('keeps observations of events however many requests are refused', async () => {
    const letters = withLetters()
    const { get } = pagesOf({ receiver: letters.receiver, redact: () => '[redacted]' })
    await dead(letters, ['evt_1'])
    const headers = { 'content-encoding': 'x' }
    for (let n = 0; n < 600; n++)
      await letters.receiver.handle({ method: 'POST', headers, body: new Uint8Array(), context: undefined })
    const { observations, refusals } = (await get<Overview>('api/overview')).here as Here
    expect(observations.filter(one => one.kind === 'rejected')).toHaveLength(100)
    expect(observations.slice(100).map(one => one.kind)).toEqual(['dead_lettered', 'accepted'])
    expect(refusals).toMatchObject([{ count: 600, detail: '[redacted]' }])
  })

  it('has no panels about a process if there is only an inbox', async () => {
    const { inbox } = withLetters()
    expect(await pagesOf({ inbox }).get<Overview>('api/overview')).not.toHaveProperty('here')
  })
})

describe('dead letters', () => {
  it('are listed page by page, in either order, without bodies', async () => {
    const letters = withLetters()
    const ids = Array.from({ length: 25 }, (_, n) => `evt_${n}`)
    await dead(letters, ids)
    const { get } = pagesOf({ receiver: letters.receiver, bodies: true })
    const seen: string[] = []
    let after = ''
    do {
      const page = await get<EventPage>(`api/letters?limit=10&order=oldest${after}`)
      seen.push(...page.events.map(event => event.id))
      after = page.next === undefined ? '' : `&after=${encodeURIComponent(page.next)}`
    } while (after !== '')
    expect(seen).toEqual(ids)
    const { events } = await get<EventPage>('api/letters')
    expect(events[0]).toMatchObject({
      id: 'evt_24',
      attempts: 1,
      reason: 'NonRetryableError: the CRM refused',
    })
    expect(JSON.stringify(events)).not.toContain('cnv_1')
  })

  it('are found by type, by text and by exact id', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1', 'evt_2'], 'a.b')
    await dead(letters, ['evt_3'], 'c.d')
    const { get } = pagesOf({ receiver: letters.receiver })
    const ids = async (query: string) =>
      (await get<EventPage>(`api/letters?${query}`)).events.map(event => event.id)
    expect(await ids('type=c.d')).toEqual(['evt_3'])
    expect(await ids('text=vt_2')).toEqual(['evt_2'])
    expect(await ids('id=evt_1')).toEqual(['evt_1'])
    expect(await ids('id=evt_1&namespace=other')).toEqual([])
  })

  it('show their body only if the option is set, and redacted', async () => {
    const letters = withLetters()
    letters.failure = 'no customer +4915112345678'
    await dead(letters, ['evt_1'])
    const redact = (text: string) => text.replace(/cnv_\w+|\+\d+/g, '[redacted]')
    const hidden = pagesOf({ receiver: letters.receiver, redact })
    letters.broken = true
    await dead(letters, ['evt_2'])
    const { observations = [] } = (await hidden.get<Overview>('api/overview')).here ?? {}
    expect(observations.map(({ detail }) => detail)).toContain('NonRetryableError: no customer [redacted]')
    const { key, reason } = (await hidden.get<EventPage>('api/letters')).events[0] as EventRow
    expect(reason).toBe('NonRetryableError: no customer [redacted]')
    expect(await hidden.get(`api/letters/${key}`)).not.toHaveProperty('body')
    const shown = pagesOf({ inbox: letters.inbox, bodies: true, redact })
    expect((await shown.get<EventRow>(`api/letters/${key}`)).body).toContain('"conversation_id":"[redacted]"')
  })

  it.each([undefined, null, Promise.resolve('text'), () => 'text', Number.NaN])(
    'show no body if redact returns %s, which is no text',
    async answer => {
      const letters = withLetters()
      await dead(letters, ['evt_1'])
      const { call } = pagesOf({ inbox: letters.inbox, bodies: true, redact: () => answer as never })
      const reply = await call('api/letters')
      expect(reply.ok).toBe(false)
      expect(await reply.text()).not.toContain('cnv_')
    },
  )

  it('run again, one by one, and the observation names the person', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1', 'evt_2'])
    const { get, post } = pagesOf({
      receiver: letters.receiver,
      authorize: () => ({ role: 'admin', name: 'anna' }),
    })
    const { events } = await get<EventPage>('api/letters')
    letters.broken = false
    const reply = await post('api/verbs/redrive', { keys: [events[0]?.key, 'unknown'] })
    expect(await reply.json()).toMatchObject({ changed: 1, missed: 1 })
    const about = { id: 'evt_2', type: 'conversation.resolved', namespace: '' }
    expect(letters.seen).toContainEqual({ kind: 'redriven', ...about, by: 'anna' })
    const keys = events.map(({ key }) => key)
    await vi.waitFor(async () =>
      expect(await get(`api/events/${keys[0]}`)).toEqual({
        state: 'handled',
        handledAt: expect.any(Number),
        rememberedUntil: expect.any(Number),
      }),
    )
    expect(await get(`api/events/${keys[1]}`)).toEqual({
      state: 'dead',
      group: expect.stringMatching(/^[\da-f]{14}$/),
    })
  })

  it('that match are counted first, then discarded; letters that failed later stay', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1', 'evt_2'], 'a.b')
    await dead(letters, ['evt_3'], 'c.d')
    const { get, post } = pagesOf({ receiver: letters.receiver })
    const failedBy = Date.now()
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(failedBy))
    await dead(letters, ['evt_4'], 'a.b')
    const matching = { type: 'a.b', failedBy }
    const count = await post('api/verbs/discard', { ...matching, dryRun: true })
    expect(await count.json()).toMatchObject({ isDone: true, data: { matched: 2 } })
    const done = await post('api/verbs/discard', matching)
    expect(await done.json()).toMatchObject({ changed: 2, missed: 0 })
    const left = (await get<EventPage>('api/letters')).events.map(event => event.id)
    expect(left).toEqual(['evt_4', 'evt_3'])
  })

  it.each([
    [{}, 'give event ids, all, or a filter: type'],
    [{ keys: 'evt_1' }, 'keys must be a list of texts'],
    [{ all: true, typ: 'a' }, 'typ is no argument here: use ids, namespace, type'],
    [{ keys: Array(5001).fill('x') }, 'at most 5000'],
  ])('refuse %j with the reason', async (body, message) => {
    const { post } = pagesOf({ receiver: withLetters().receiver })
    const reply = await post('api/verbs/discard', body)
    expect(reply.status).toBe(400)
    expect(((await reply.json()) as Problem).message).toContain(message)
  })
})

it("a cursor from another list is the caller's mistake, not an outage", async () => {
  const reply = await pagesOf({ receiver: withLetters().receiver }).call('api/letters?after=zzz')
  expect([reply.status, ((await reply.json()) as Problem).error]).toEqual([400, 'invalid'])
})

it('an inbox that never settles gets 503 after twenty seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { call } = pagesOf({ inbox: { ...memoryInbox(), stats: () => new Promise(() => {}) } })
  const calling = call('api/overview')
  await vi.advanceTimersByTimeAsync(20_000)
  const reply = await calling
  expect(reply.status).toBe(503)
  expect(await reply.json()).toMatchObject({ message: expect.stringMatching(/did not respond within 20 s/) })
})

describe('access control', () => {
  it.each([
    ['false', () => false as const, []],
    ['true', () => true as never, ['authorize_failed']],
    ['nothing', () => undefined as never, ['authorize_failed']],
    [
      'an error',
      () => {
        throw new Error('no session')
      },
      ['authorize_failed'],
    ],
    ['a rejection', () => Promise.reject(new Error('no session')), ['authorize_failed']],
  ])(
    'an authorize that returns %s shows nothing, and a mistake in it is logged once',
    async (_name, authorize, logged) => {
      const { receiver, warned } = withLetters()
      const { call } = pagesOf({ receiver, authorize })
      for (const path of ['', 'api/overview', 'api/letters']) expect((await call(path)).status).toBe(403)
      expect(warned.filter(code => code === 'authorize_failed')).toEqual(logged)
    },
  )

  it('an authorize that never settles gets 503 after five seconds, and is logged once', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { receiver, warned } = withLetters()
    const { call } = pagesOf({ receiver, authorize: () => new Promise(() => {}) })
    for (const path of ['', 'api/overview']) {
      const calling = call(path)
      await vi.advanceTimersByTimeAsync(5000)
      const reply = await calling
      expect([reply.status, await reply.json()]).toEqual([
        503,
        { error: 'authorize_timeout', message: "The dashboard's authorize did not respond within 5 s." },
      ])
    }
    expect(warned.filter(code => code === 'authorize_failed')).toHaveLength(1)
  })

  it('without a receiver, a mistake in authorize is printed on the console, without the returned value', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const { call } = pagesOf({ inbox: memoryInbox(), authorize: () => 'secret-token' as never })
    expect((await call('')).status).toBe(403)
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/authorize returned another string/))
    expect(warn).not.toHaveBeenCalledWith(expect.stringContaining('secret-token'))
  })

  it('refuses any host name but its own, before authorize is called', async () => {
    const authorize = vi.fn(() => 'admin' as const)
    const { call } = pagesOf({ receiver: withLetters().receiver, authorize, allowedHosts: ['app.test'] })
    for (const path of ['', 'api/overview']) {
      expect((await call(path, { headers: { host: 'rebound.evil.test' } })).status).toBe(403)
      expect(authorize).not.toHaveBeenCalled()
    }
    for (const host of ['app.test', 'app.test:8080', 'localhost:3000'])
      expect((await call('api/overview', { headers: { host } })).status).toBe(200)
  })

  it('refuses another host name that a trusted proxy forwards', async () => {
    const { receiver } = withLetters()
    const { call } = pagesOf({ receiver, allowedHosts: ['app.test'], trustProxy: true })
    const asked = (name: string) =>
      call('api/overview', { headers: { host: 'inside:3000', 'x-forwarded-host': name } })
    expect((await asked('app.test')).status).toBe(200)
    expect((await asked('evil.test')).status).toBe(403)
  })

  it.each([
    ['() => role', () => 'admin', true],
    ['async () => role', async () => 'admin', true],
    ['function () { … }', () => 'admin', true],
    ['request => role', (request: Request) => (request.url === '' ? 'read' : 'admin'), false],
    ['(...all) => role', (...all: unknown[]) => (all.length > 1 ? 'admin' : 'read'), false],
    [
      'arguments',
      function () {
        // biome-ignore lint/complexity/noArguments: JavaScript may be written this way.
        return arguments.length > 1 ? 'admin' : 'read'
      },
      false,
    ],
  ])('an authorize like %s is logged as open in production: %j', (_name, authorize, isOpen) => {
    onTestFinished(() => void vi.unstubAllEnvs())
    for (const [env, expected] of [
      ['production', isOpen ? ['authorize_open'] : []],
      ['development', []],
    ] as const) {
      vi.stubEnv('NODE_ENV', env)
      const { receiver, warned } = withLetters()
      pagesOf({ receiver, authorize: authorize as never })
      expect(warned).toEqual(expected)
    }
  })

  it('a reader can look but not change anything', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const { get, post } = pagesOf({ receiver: letters.receiver, authorize: async () => 'read' as const })
    const { events } = await get<EventPage>('api/letters')
    expect((await post('api/verbs/discard', { keys: [events[0]?.key] })).status).toBe(403)
    expect((await letters.receiver.stats()).dead).toBe(1)
  })

  it.each([
    ['comes from a page on another site', { 'sec-fetch-site': 'cross-site' }],
    ['comes from a sibling domain', { 'sec-fetch-site': 'same-site' }],
    ['has the origin of another site', { origin: 'https://evil.test', host: 'app.test' }],
    ['has an opaque origin', { origin: 'null', host: 'app.test' }],
  ])('a call that %s is refused', async (_name, headers) => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const { get, post } = pagesOf({ receiver: letters.receiver })
    const { events } = await get<EventPage>('api/letters')
    const reply = await post('api/verbs/discard', { keys: [events[0]?.key] }, { ...JSON_CALL, ...headers })
    expect(reply.status).toBe(403)
    expect((await letters.receiver.stats()).dead).toBe(1)
  })

  it('a form without an origin is refused for its content type', async () => {
    const { post } = pagesOf({ receiver: withLetters().receiver })
    expect((await post('api/verbs/discard', {}, { 'content-type': 'text/plain' })).status).toBe(403)
    expect((await post('api/verbs/discard', {}, { 'content-type': 'application/json' })).status).toBe(403)
  })

  it('another site cannot read either', async () => {
    const { call } = pagesOf({ receiver: withLetters().receiver })
    const reply = await call('api/overview', { headers: { 'sec-fetch-site': 'cross-site' } })
    expect(reply.status).toBe(403)
    expect(reply.headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('the page', () => {
  it('has a policy that allows only its own files', async () => {
    const reply = await pagesOf({ receiver: withLetters().receiver }).call('')
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = reply.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("require-trusted-types-for 'script'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
    const ownScript = `<script>${SLASH_SCRIPT}</script>`
    expect((await reply.text()).replace(ownScript, '')).not.toMatch(
      /<script(?![^>]* src="\.\/)|<style|https?:/,
    )
  })

  it('is found below any path, and its unchanged files get 304', async () => {
    const { call } = pagesOf({ receiver: withLetters().receiver })
    const script = (await (await call('')).text()).match(/src="\.\/(assets\/[^"]+)"/)?.[1] ?? ''
    const file = await call(script)
    expect(file.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    const etag = file.headers.get('etag') ?? ''
    expect((await call(script, { headers: { 'if-none-match': etag } })).status).toBe(304)
    expect((await call('assets/none.js')).status).toBe(404)
    expect((await call('assets/__proto__')).status).toBe(404)
  })

  it('redirects a request without the trailing slash, by a relative address', async () => {
    const pages = dashboard({ receiver: withLetters().receiver, authorize: () => 'read' })
    const reply = await pages.fetch(new Request('http://app.test/ops/webhooks'), undefined)
    expect(reply.status).toBe(308)
    expect(reply.headers.get('location')).toBe('./webhooks/')
  })
})

describe('a wrong option', () => {
  const { receiver } = withLetters()
  const authorize = () => 'admin' as const
  it.each([
    ['authorize', { receiver }],
    ['receiver', { authorize }],
    ['receiver', { authorize, receiver, inbox: memoryInbox() }],
    ['receiver', { authorize, receiver: {} }],
    ['receiver', { authorize, receiver: null }],
    ['receiver', { authorize, receiver: undefined }],
    ['inbox', { authorize, inbox: null }],
    ['inbox', { authorize, inbox: {} }],
    ['authorize', { receiver, authorize: null }],
    ['bodies', { authorize, receiver, bodies: null }],
    ['allowedHosts', { authorize, receiver, allowedHosts: 'ops.example' }],
    ['allowedHosts', { authorize, receiver, allowedHosts: ['*.example'] }],
    ['allowedHosts', { authorize, receiver, allowedHosts: null }],
    ['redact', { authorize, receiver, redact: null }],
    ['trustProxy', { authorize, receiver, trustProxy: null }],
    ['emulatorUrl', { authorize, receiver, emulatorUrl: 'localhost:4400' }],
    ['emulatorUrl', { authorize, receiver, emulatorUrl: 'javascript:alert(1)' }],
    ['emulatorUrl', { authorize, receiver, emulatorUrl: 'http://me:secret@localhost:4400/' }],
    ['emulatorUrl', { authorize, receiver, emulatorUrl: null }],
    ['options', null],
    ['bodies', { authorize, receiver, bodies: 'yes' }],
    ['redact', { authorize, receiver, redact: 'x' }],
    ['traceUrl', { authorize, receiver, traceUrl: 'https://traces.example/trace' }],
    ['traceUrl', { authorize, receiver, traceUrl: 'javascript:alert("{traceId}")' }],
    ['traceUrl', { authorize, receiver, traceUrl: 'traces.example/{traceId}' }],
    ['traceUrl', { authorize, receiver, traceUrl: null }],
    ['athorize', { authorize, receiver, athorize: 1 }],
  ])('is refused by its name, %s', (option, options) => {
    expect(() => dashboard(options as never)).toThrow(expect.objectContaining({ option }))
  })
})

describe('the trace of an event', () => {
  it('is told of a waiting event and of a dead letter, with the address of traces, and of no event without one', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const traceUrl = 'https://traces.example/trace/{traceId}'
    const letters = withLetters(memoryInbox(), 1)
    const { get } = pagesOf({ receiver: letters.receiver, traceUrl })
    const send = (id: string) =>
      letters.send(id, undefined, undefined, { traceparent: `00-${traceId}-b7ad6b7169203331-01` })
    await send('evt_dead')
    await letters.send('evt_untraced')
    await vi.waitFor(async () => expect((await letters.receiver.stats()).dead).toBe(2))
    letters.hold = new Promise(() => {})
    await letters.send('evt_runs')
    await send('evt_waits')
    const find = async (id: string) => (await get<Finding>(`api/find?q=${id}`)).exact
    const { key } = await find('evt_dead')
    expect(await get(`api/letters/${key}`)).toMatchObject({ id: 'evt_dead', traceId })
    expect(await find('evt_dead')).toMatchObject({ state: 'dead', traceId })
    expect(await find('evt_waits')).toMatchObject({ state: 'pending', traceId })
    const { events } = await get<EventPage>('api/events?state=pending&id=evt_waits')
    expect(events).toMatchObject([{ traceId }])
    for (const id of ['evt_untraced', 'evt_runs']) expect(await find(id)).not.toHaveProperty('traceId')
    expect((await get<Overview>('api/overview')).traceUrl).toBe(traceUrl)
  })
})

describe('a search', () => {
  it('tells where an id is, and finds events by a whole value that the page may show', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1', 'evt_2'])
    const { get, call } = pagesOf({ receiver: letters.receiver })
    expect(await get('api/find?q=evt_1')).toMatchObject({
      exact: { state: 'dead' },
      found: [{ id: 'evt_1', state: 'dead' }],
      letters: 2,
    })
    const byValue = await get<Finding>('api/find?q=CNV_1')
    expect(byValue.exact.state).toBe('unknown')
    expect(byValue.found.map(({ id }) => id)).toEqual(['evt_2', 'evt_1'])
    expect((await get<Finding>('api/find?q=cnv_')).found).toEqual([])
    expect(JSON.stringify(byValue)).not.toContain('conversation_id')
    expect((await call('api/find?q=a')).status).toBe(400)
    const redacting = pagesOf({ receiver: letters.receiver, redact: text => text.replace('cnv_1', '…') })
    expect((await redacting.get<Finding>('api/find?q=cnv_1')).found).toEqual([])
  })
})

describe('the field that a list shows', () => {
  it("is that of the event's data or of the event, as redacted, and only if bodies are shown", async () => {
    const letters = withLetters()
    await letters.send('evt_1', 'a.b', { conversation_id: 'cnv_1', to: { phone: '+49 151' }, list: [1] })
    await vi.waitFor(async () => expect((await letters.receiver.stats()).dead).toBe(1))
    const redact = (text: string) => text.replaceAll('+49', '[hidden]')
    const key = (await letters.inbox.deadLetters.list())[0]?.key ?? ''
    const shown = pagesOf({ receiver: letters.receiver, bodies: true, redact })
    const ask = async (name: string, pages = shown) =>
      await (await pages.post('api/events/fields', { keys: [key, 'unknown'], name })).json()
    expect(await ask('conversation_id')).toEqual({ values: { [key]: 'cnv_1' } })
    expect(await ask('to.phone')).toEqual({ values: { [key]: '[hidden] 151' } })
    expect(await ask('id')).toEqual({ values: { [key]: 'evt_1' } })
    for (const name of ['to', 'list', 'constructor', '__proto__.x'])
      expect(await ask(name)).toEqual({ values: {} })
    expect(await ask('conversation_id', pagesOf({ receiver: letters.receiver }))).toEqual({ values: {} })
    expect(await ask('')).toMatchObject({ error: 'invalid' })
  })
})

describe('filters of dead letters', () => {
  it.each(['order.*x', 'a*', ''])('refuse a type that is not a pattern, %j', async type => {
    const { call, post } = pagesOf({ receiver: withLetters().receiver })
    expect((await call(`api/letters?type=${type}`)).status).toBe(400)
    expect((await post('api/verbs/redrive', { type })).status).toBe(400)
  })

  it('with only a namespace change no letters of another one', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const { post } = pagesOf({ receiver: letters.receiver })
    const reply = await post('api/verbs/discard', { all: true, namespace: 'another' })
    expect(await reply.json()).toMatchObject({ changed: 0, missed: 0 })
    expect((await letters.receiver.stats()).dead).toBe(1)
  })

  it('match the displayed text, not text that redact hides', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const { get } = pagesOf({ receiver: letters.receiver, redact: () => 'hidden' })
    expect((await get<EventPage>('api/letters?error=NonRetryableError')).events).toEqual([])
    expect((await get<EventPage>('api/letters?reason=CRM')).events).toEqual([])
    expect((await get<EventPage>('api/letters?reason=HIDD')).events).toHaveLength(1)
    expect(await get('api/letters/groups')).toMatchObject({
      groups: [{ type: 'conversation.resolved', reason: 'hidden', count: 1, stack: 'hidden' }],
    })
  })

  it('find a letter far back in bounded requests', async () => {
    const far = Array.from({ length: 4500 }, (_, n) => ({
      ...{
        key: `k${n}`,
        id: `evt_${n}`,
        namespace: '',
        type: 'a.b',
        receivedAt: 1,
        failedAt: 1,
        attempts: 1,
      },
      ...{ reason: n === 4400 ? 'TypeError: x' : 'Error: y', cursor: String(n) },
    }))
    const browse = vi.fn(({ after = '-1', limit = 100 }) => far.slice(Number(after) + 1).slice(0, limit))
    const inbox = { ...memoryInbox(), browse, browsing: { states: ['dead' as const], filters: [] } }
    const { get } = pagesOf({ inbox })
    const first = await get<EventPage>('api/letters?error=TypeError')
    expect(first).toEqual({ events: [], next: '1999' })
    expect(browse).toHaveBeenCalledTimes(10)
    const second = await get<EventPage>('api/letters?error=TypeError&after=1999')
    const third = await get<EventPage>(`api/letters?error=TypeError&after=${second.next}`)
    expect(third).toMatchObject({ events: [{ id: 'evt_4400' }] })
    expect(third.next).toBeUndefined()
  })
})

describe('large dead letters', () => {
  /** An inbox that ends a page after two letters, as an inbox with large bodies does. */
  function endingEarly(letters: ReturnType<typeof withLetters>) {
    const { deadLetters, ...inbox } = letters.inbox
    const held = { now: 0, most: 0, reads: 0 }
    const { browse: _, browsing: _1, ...rest } = inbox
    return {
      held,
      inbox: {
        ...rest,
        deadLetters: {
          ...deadLetters,
          list: async (options = {}) => (await deadLetters.list(options)).slice(0, 2),
          async get(key: string) {
            held.reads++
            held.most = Math.max(held.most, ++held.now)
            const letter = await deadLetters.get(key)
            held.now--
            return letter
          },
        },
      },
    }
  }

  it('are listed to the end if the inbox ends a page early', async () => {
    const letters = withLetters()
    const ids = Array.from({ length: 7 }, (_, n) => `evt_${n}`)
    await dead(letters, ids)
    const { get, post } = pagesOf({ inbox: endingEarly(letters).inbox })
    const seen: string[] = []
    let pages = 0
    let after = ''
    do {
      const page = await get<EventPage>(`api/letters?limit=5${after}`)
      seen.push(...page.events.map(event => event.id))
      after = page.next === undefined ? '' : `&after=${encodeURIComponent(page.next)}`
      pages++
    } while (after !== '')
    expect(seen).toEqual(ids.toReversed())
    expect(pages).toBe(4)
    expect(await (await post('api/verbs/discard', { all: true })).json()).toMatchObject({
      ...{ state: 'over', changed: 7 },
    })
  })

  it('are read one after the other to be discarded, and never many at a time', async () => {
    const letters = withLetters()
    await dead(
      letters,
      Array.from({ length: 40 }, (_, n) => `evt_${n}`),
    )
    const { inbox, held } = endingEarly(letters)
    const keys = (await letters.inbox.deadLetters.list()).map(({ key }) => key)
    const { post } = pagesOf({ inbox })
    expect(await (await post('api/verbs/discard', { keys })).json()).toMatchObject({
      changed: 40,
      missed: 0,
    })
    expect(held.most).toBeLessThan(8)
  })

  it('are listed without reading bodies if the inbox can do that', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const list = vi.spyOn(letters.inbox.deadLetters, 'list')
    const { get } = pagesOf({ inbox: letters.inbox })
    expect((await get<EventPage>('api/letters')).events).toMatchObject([{ id: 'evt_1' }])
    expect(list).not.toHaveBeenCalled()
  })

  it('can be listed by their age', async () => {
    const letters = withLetters()
    const { get } = pagesOf({ receiver: letters.receiver })
    await dead(letters, ['evt_1'])
    const [{ failedAt = 0 } = {}] = (await get<EventPage>('api/letters')).events
    expect((await get<EventPage>(`api/letters?failedBy=${failedAt}`)).events).toHaveLength(1)
    expect((await get<EventPage>(`api/letters?failedBy=${failedAt - 1}`)).events).toEqual([])
    expect(await get<Problem>('api/events?state=pending&failedBy=1')).toMatchObject({ error: 'unsupported' })
    // A limit that is not understood lists nothing: a list is what its reader discards.
    for (const wrong of ['', '-1', 'NaN', '7d'])
      expect(await get<Problem>(`api/letters?failedBy=${wrong}`)).toMatchObject({ error: 'invalid' })
  })

  it('have no body, and say so, if the inbox stores them sealed', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const [letter] = await letters.inbox.deadLetters.list()
    const body = new TextEncoder().encode('\0acks\u0001of bytes')
    const get = () => ({ ...letter!, body, reason: 'Sealed: ghijklmnopqrst' })
    const inbox = { ...letters.inbox, deadLetters: { ...letters.inbox.deadLetters, get } }
    const shown = await pagesOf({ inbox, bodies: true }).get<EventRow>(`api/letters/${letter?.key}`)
    expect(shown).toMatchObject({ id: 'evt_1', sealed: true })
    expect(shown).not.toHaveProperty('body')
  })

  it('show the stack of an error from another realm', async () => {
    const secret = 'whsec_0123456789abcdef'
    const logger = { info() {}, warn() {}, error() {} }
    const receiver = createReceiver({ secret, logger, retry: { attempts: 1 } })
    receiver.on('*', () => {
      throw runInNewContext("new RangeError('of another realm')")
    })
    const { get } = pagesOf({ receiver })
    await receiver.handle(signedRequest(createEvent('a.b'), { secret }))
    await vi.waitFor(async () => expect((await receiver.stats()).dead).toBe(1))
    const { events } = await get<EventPage>('api/letters')
    const letter = await get<EventRow>(`api/letters/${events[0]?.key}`)
    expect(letter.stack).toContain('RangeError: of another realm')
  })

  it('keep a short text of a long error', async () => {
    const letters = withLetters()
    letters.failure = 'x'.repeat(1_000_000)
    const { get } = pagesOf({ receiver: letters.receiver })
    await dead(letters, ['evt_1'])
    const { here } = await get<Overview>('api/overview')
    expect(JSON.stringify(here).length).toBeLessThan(10_000)
    const { events } = await get<EventPage>('api/letters')
    const letter = await get<EventRow>(`api/letters/${events[0]?.key}`)
    expect(letter.stack).toContain('NonRetryableError: xxx')
  })
})

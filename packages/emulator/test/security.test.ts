import { request as httpRequest } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { type EmulatorOptions, startEmulator } from '../src/index.ts'
import { after, answering, SECRET, serve, start, temporaryFile } from './set-up.ts'

const API = '/_emulator/v1'

interface Raw {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** Sends a request without a client that adds or changes headers. */
function send(
  url: string,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  body = '',
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { path, method, headers, agent: false }, response => {
      const chunks: Buffer[] = []
      // A stream does not end, so only its head is read.
      if (response.headers['content-type'] === 'text/event-stream') {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: '' })
        request.destroy()
      }
      response
        .on('data', chunk => chunks.push(chunk))
        .on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          })
        })
    })
    request.on('error', reject).end(body)
  })
}

/** Sends raw bytes, and resolves with the reply's first line. */
function raw(url: string, text: string): Promise<string> {
  const { port, hostname } = new URL(url)
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () => socket.write(text))
    socket.on('data', data => {
      answer += data
      if (answer.includes('\r\n')) socket.destroy()
    })
    socket.on('close', () => resolve(answer.split('\r\n')[0] ?? '')).on('error', reject)
  })
}

const isForbidden = ({ status }: Raw) => status === 403
const JSON_CALL = { 'content-type': 'application/json' }

describe('rule 1: it listens on loopback', () => {
  test('on 127.0.0.1 and ::1, with one port', async () => {
    const { emulator } = await start()
    const { port } = new URL(emulator.url)
    for (const host of ['127.0.0.1', '[::1]']) {
      expect((await fetch(`http://${host}:${port}${API}/health`)).status).toBe(200)
    }
  })

  test('another host needs a token, and so does every API call', async () => {
    await expect(startEmulator({ host: '0.0.0.0' })).rejects.toThrow(/token/)
    await expect(startEmulator({ host: '192.168.1.7' })).rejects.toThrow(/token/)
    const { emulator } = await startWithToken()
    const ask = (path: string, headers = {}) => send(emulator.url, path, headers)
    for (const path of [
      `${API}/health`,
      `${API}/stream`,
      `${API}/deliveries/dlv_1/body`,
      '/_emulator/none',
    ]) {
      expect((await ask(path)).status).toBe(401)
      expect((await ask(path, { authorization: 'Bearer wrong' })).status).toBe(401)
    }
    const message = [{ ...JSON_CALL, authorization: 'Bearer other' }, 'POST', '{}'] as const
    expect((await send(emulator.url, '/v1/messages', ...message)).status).toBe(401)
    expect((await ask(`${API}/health`, { authorization: 'Bearer token-of-this-test' })).status).toBe(200)
    expect((await ask('/')).status).toBe(200)
  })
})

async function startWithToken(): Promise<Pick<Awaited<ReturnType<typeof start>>, 'emulator'>> {
  const emulator = await startEmulator({ port: 0, host: '0.0.0.0', token: 'token-of-this-test' })
  after(() => emulator.close())
  return { emulator }
}

describe('rule 2: it accepts only its own host names', () => {
  const paths = [
    ...['/', `${API}/health`, `${API}/stream`, '/v1/messages', '/none', '//', `/${API}/health`],
    ...[
      '/%5f%65mulator/v1/health',
      '/_emulator/%761/health',
      '/_emulator/v1/../v1/health',
      '/%2e%2e/_emulator/v1/health',
    ],
  ]

  test('a foreign name that resolves to this machine is refused on every path, in any notation', async () => {
    const { emulator } = await start()
    const { port } = new URL(emulator.url)
    for (const path of paths) {
      for (const host of [
        'evil.example',
        `evil.example:${port}`,
        'localhost.evil.example',
        '127.0.0.1.evil.example',
      ]) {
        const reply = await send(emulator.url, path, { host })
        expect([path, host, reply.status]).toEqual([path, host, 403])
        expect(reply.headers['content-security-policy']).toBeDefined()
      }
    }
  })

  test('a foreign name in the URL, two names and no name are refused too', async () => {
    const { emulator } = await start()
    const { port } = new URL(emulator.url)
    const own = `Host: 127.0.0.1:${port}\r\n`
    const end = 'Connection: close\r\n\r\n'
    const ask = (line: string, hosts: string) => raw(emulator.url, `${line}\r\n${hosts}${end}`)
    const absolute = `GET http://evil.example${API}/health HTTP/1.1`
    expect(await ask(absolute, own)).toMatch(/ 403 /)
    expect(await ask(absolute, 'Host: evil.example\r\n')).toMatch(/ 403 /)
    expect(await ask(`GET http://127.0.0.1:${port}@evil.example/ HTTP/1.1`, own)).toMatch(/ 403 /)
    expect(await ask(`GET http://127.0.0.1:${port}${API}/health HTTP/1.1`, own)).toMatch(/ 200 /)
    expect(await ask('GET evil.example/ HTTP/1.1', own)).toMatch(/ 40[03] /)
    expect(await ask(`GET ${API}/health HTTP/1.1`, `${own}Host: evil.example\r\n`)).toMatch(/ 40[03] /)
    expect(await ask(`GET ${API}/health HTTP/1.1`, '')).toMatch(/ 40[03] /)
    expect(await ask(`GET ${API}/health HTTP/1.0`, '')).toMatch(/ 403 /)
    expect(await ask(`GET ${API}/health HTTP/1.1`, 'Host: 127.0.0.1 evil.example\r\n')).toMatch(/ 40[03] /)
  })

  test('loopback names and allowedHosts are accepted, with any port', async () => {
    const { emulator } = await start({ allowedHosts: ['emulator'] })
    for (const host of [
      'localhost',
      'localhost:8080',
      '127.0.0.1',
      '[::1]:1',
      'LOCALHOST',
      'emulator:4400',
    ]) {
      expect([host, (await send(emulator.url, `${API}/health`, { host })).status]).toEqual([host, 200])
    }
  })

  test('no reply allows another origin', async () => {
    const { emulator } = await start()
    const origin = 'http://evil.example'
    for (const path of paths) {
      for (const method of ['GET', 'OPTIONS', 'POST']) {
        const { headers } = await send(emulator.url, path, { origin }, method)
        expect(Object.keys(headers).filter(name => name.startsWith('access-control'))).toEqual([])
      }
    }
  })
})

describe('rule 3: pages of other sites cannot call it', () => {
  const calls: readonly (readonly [path: string, method: string])[] = [
    [`${API}/deliveries`, 'GET'],
    [`${API}/stream`, 'GET'],
    [`${API}/health`, 'GET'],
    ['/%5femulator/v1/health', 'GET'],
    [`${API}/reset`, 'POST'],
    [`${API}/workspaces/default/endpoint`, 'PUT'],
    [`${API}/workspaces/default`, 'DELETE'],
    ['/v1/messages', 'POST'],
  ]

  test('requests that a browser marks as cross-site are refused, including events and streams', async () => {
    const { emulator } = await start()
    for (const [path, method] of calls) {
      for (const site of ['cross-site', 'same-site']) {
        for (const mode of ['cors', 'no-cors', 'navigate']) {
          const headers = { ...JSON_CALL, 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'x-ackhook': '1' }
          const reply = await send(emulator.url, path, headers, method)
          expect([path, site, mode, isForbidden(reply)]).toEqual([path, site, mode, true])
        }
      }
    }
  })

  test('another site may link to the page, but not embed it', async () => {
    const { emulator } = await start()
    const from = (mode: string) => ({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode })
    expect((await send(emulator.url, '/', from('navigate'))).status).toBe(200)
    expect((await send(emulator.url, '/', from('no-cors'))).status).toBe(403)
    expect((await send(emulator.url, '/', from('navigate'), 'POST')).status).toBe(403)
  })

  test('an unmarked unsafe call needs the same origin', async () => {
    const { emulator } = await start()
    const { host } = new URL(emulator.url)
    const post = (headers: Record<string, string>) =>
      send(emulator.url, `${API}/reset`, { host, ...headers }, 'POST')
    for (const origin of [
      'http://evil.example',
      'null',
      `http://${host}.evil.example`,
      'http://localhost:1',
      `${host}`,
    ]) {
      expect([origin, (await post({ origin, ...JSON_CALL, 'x-ackhook': '1' })).status]).toEqual([origin, 403])
    }
    expect((await post({ origin: `http://${host}` })).status).toBe(204)
    expect((await post({ 'sec-fetch-site': 'same-origin' })).status).toBe(204)
  })

  test('without either header it needs JSON and x-ackhook, which no form can send', async () => {
    const { emulator } = await start()
    const post = (path: string, headers: Record<string, string>, body = '{}') =>
      send(emulator.url, path, headers, 'POST', body)
    expect((await post(`${API}/reset`, JSON_CALL)).status).toBe(403)
    expect((await post(`${API}/reset`, { 'content-type': 'text/plain', 'x-ackhook': '1' })).status).toBe(415)
    expect((await post(`${API}/reset`, { 'x-ackhook': '1' })).status).toBe(415)
    expect(
      (await post(`${API}/reset`, { 'content-type': 'application/json-seq', 'x-ackhook': '1' })).status,
    ).toBe(415)
    expect((await post(`${API}/reset`, { ...JSON_CALL, 'x-ackhook': '1' })).status).toBe(204)
    const message = '{"channel":"whatsapp","to":"+491","template":"t"}'
    const key = { authorization: 'Bearer key' }
    // The platform's path needs no x-ackhook, but everything else.
    expect((await post('/v1/messages', { ...JSON_CALL, ...key }, message)).status).toBe(202)
    expect((await post('/v1/messages', { 'content-type': 'text/plain', ...key }, message)).status).toBe(415)
    // A wrong path gets 404.
    for (const path of ['/v1/messages/', '/v1/v1/messages', '/v1/message']) {
      expect((await post(path, { ...JSON_CALL, ...key }, message)).status).toBe(404)
      expect((await post(path, { 'content-type': 'text/plain', ...key }, message)).status).toBe(415)
    }
    expect((await post('/v1/%6dessages', { ...JSON_CALL, ...key }, message)).status).not.toBe(500)
  })
})

test('rule 4: every reply forbids foreign scripts, frames and type sniffing', async () => {
  const { emulator } = await start()
  for (const [path, method] of [
    ['/', 'GET'],
    ['/none', 'GET'],
    [`${API}/health`, 'GET'],
    [`${API}/stream`, 'GET'],
    [`${API}/deliveries/none`, 'GET'],
    [`${API}/reset`, 'POST'],
    ['/v1/messages', 'POST'],
  ] as const) {
    const { headers } = await send(emulator.url, path, {}, method)
    expect([path, headers]).toEqual([
      path,
      expect.objectContaining({
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      }),
    ])
  }
})

test('rule 5: a payload is text; a download is an attachment of bytes', async () => {
  const { emulator, http } = await start()
  const evil = '<script>alert(1)</script>'
  const sent = await http.post('/events', { events: [{ type: 'a.b', id: evil, data: { evil } }] })
  const { id } = sent.body.events[0].deliveries[0]
  const detail = await send(emulator.url, `${API}/deliveries/${id}`)
  expect(detail.headers['content-type']).toBe('application/json')
  const { headers } = await send(emulator.url, `${API}/deliveries/${id}/body`)
  expect(headers['content-type']).toBe('application/octet-stream')
  expect(headers['content-disposition']).toMatch(/^attachment; filename="dlv_[0-9a-z]{20}\.json"$/)
  const missing = await send(emulator.url, `/${encodeURIComponent(evil)}.js`)
  expect([missing.status, missing.headers['content-type']]).toEqual([404, 'application/json'])
})

describe('rule 6: it sends only to this machine and to allowed hosts', () => {
  const put = async (url: string, options: EmulatorOptions = {}) => {
    const { http } = await start(options)
    return http.put('/workspaces/default/endpoint', { url })
  }

  test('other targets are refused, in any notation', async () => {
    for (const url of [
      ...[
        'http://example.test/',
        'https://example.test/',
        'http://169.254.169.254/latest/meta-data',
        'http://10.0.0.1/',
      ],
      ...[
        'http://192.168.0.1/',
        'http://0.0.0.0:3000/',
        'http://[::]/',
        'http://[fe80::1]/',
        'http://[::ffff:10.0.0.1]/',
      ],
      ...[
        'http://0xa000001/',
        'http://167772161/',
        'http://localhost.example.test/',
        'http://127.0.0.1.example.test/',
      ],
      ...[
        'ftp://localhost/',
        'file:///etc/passwd',
        'javascript:alert(1)',
        'nonsense',
        'http://user:word@localhost/',
      ],
    ]) {
      const { status, body } = await put(url)
      expect([url, status, body.error?.field]).toEqual([url, 400, 'url'])
    }
  })

  test('loopback is allowed in any notation, and allowed hosts even with HTTP', async () => {
    for (const url of [
      'http://localhost:3000/',
      'http://127.1/',
      'http://2130706433/',
      'http://[::1]:1/',
      'https://app.localhost/',
    ]) {
      expect([url, (await put(url)).status]).toEqual([url, 200])
    }
    expect((await put('http://app:3000/webhooks', { allowTargets: ['app'] })).status).toBe(200)
    expect((await put('https://example.test/', { allowTargets: ['example.test'] })).status).toBe(200)
    expect((await put('http://10.0.0.1/', { allowTargets: ['10.0.0.1'] })).status).toBe(200)
  })

  test('with httpsOnly it is as strict as the platform', async () => {
    const { status, body } = await put('http://localhost:3000/', { httpsOnly: true })
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('https://')])
    expect((await put('https://localhost:3000/', { httpsOnly: true })).status).toBe(200)
    await expect(startEmulator({ port: 0, httpsOnly: true, to: 'http://localhost/' })).rejects.toThrow(
      /^Option 'to': must begin with https/,
    )
  })

  test('an endpoint from an earlier run is checked again before each attempt', async () => {
    const data = temporaryFile()
    const first = await startEmulator({
      port: 0,
      data,
      allowTargets: ['10.255.255.1'],
      to: 'http://10.255.255.1/',
    })
    await first.api.endpoints.pause()
    await first.api.send('call.started')
    await first.close()
    const second = await startEmulator({ port: 0, data })
    after(() => second.close())
    await expect(second.api.endpoints.resume()).rejects.toThrow(/allowTargets/)
    const receiver = await answering()
    await second.api.endpoints.put({ url: receiver.url, paused: false })
    await second.wait({ state: 'acknowledged' })
    await second.close()
    const third = await startEmulator({ port: 0, data, httpsOnly: true, delivery: { attempts: 1 } })
    after(() => third.close())
    await third.api.send('call.missed')
    await third.wait({ type: 'call.missed', state: 'undelivered' })
    const [delivery] = (await third.api.deliveries.list({ type: 'call.missed' })).deliveries
    expect(delivery?.lastError).toMatch(/^not sent: .*https/)
  })

  test('redirects are not followed, whatever their target', async () => {
    const inner = await answering()
    let hops = 0
    const outer = await serve((request, response) => {
      hops += 1
      request.resume().on('end', () => response.writeHead(307, { location: inner.url }).end())
    })
    const { emulator } = await start({ to: outer, delivery: { attempts: 1 } })
    await emulator.api.send('call.started')
    await emulator.wait()
    expect([hops, inner.got.length]).toEqual([1, 0])
    expect((await emulator.api.deliveries.list()).deliveries[0]).toMatchObject({
      state: 'undelivered',
      lastStatus: 307,
    })
  })

  test('only 64 KiB of a reply are read, and its status counts', async () => {
    let written = 0
    const { url } = await answering([], response => {
      response.writeHead(200, { 'x-from': 'endless' })
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x'))) written += 65_536
      }
      response.on('drain', more)
      more()
    })
    const { emulator } = await start({ to: url })
    const { deliveries } = await emulator.api.send('call.started')
    await emulator.wait({ state: 'acknowledged' })
    const { log } = await emulator.api.deliveries.get(deliveries[0]?.id ?? '')
    expect(log[0]?.truncated).toBe(true)
    expect(log[0]?.replyBody.text).toHaveLength(65_536)
    expect(written).toBeLessThan(50_000_000)
  })

  test('a reply that trickles in ends at the timeout', async () => {
    const slow = await serve((_, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('.'), 10)
      response.on('close', () => clearInterval(timer))
    })
    const slowHead = await new Promise<string>(resolve => {
      const server = createTcpServer(socket => {
        socket.write('HTTP/1.1 200 OK\r\n')
        const timer = setInterval(() => socket.write('x: y\r\n'), 10)
        socket.on('close', () => clearInterval(timer)).on('error', () => {})
      }).listen(0, '127.0.0.1', () => {
        after(() => server.close())
        resolve(`http://127.0.0.1:${(server.address() as { port: number }).port}/`)
      })
    })
    for (const to of [slow, slowHead]) {
      const { emulator } = await start({ to, delivery: { timeout: '100ms', attempts: 1 } })
      await emulator.api.send('call.started')
      await emulator.wait({ state: 'undelivered' })
      const [delivery] = (await emulator.api.deliveries.list()).deliveries
      expect(delivery?.lastError).toMatch(/no reply within 100 ms|HPE_HEADER_OVERFLOW/)
    }
  })
})

test('rule 7: a secret is shown once, and never in a list, a log, a stream or an address', async () => {
  const receiver = await answering([500])
  const { emulator, http } = await start({ to: receiver.url, secret: SECRET })
  const next = (await http.post('/workspaces/default/endpoint/rotate-secret')).body.secret
  await http.post('/events', { events: [{ type: 'call.started' }] })
  await emulator.wait({ status: 500 })
  const { id } = (await http.get('/deliveries')).body.deliveries[0]
  const replies = await Promise.all(
    [
      '/workspaces',
      '/workspaces/default/endpoint',
      '/health',
      '/settings',
      '/deliveries',
      `/deliveries/${id}`,
      '/stats',
    ].map(path => send(emulator.url, `${API}${path}`)),
  )
  const changed = await http.put('/workspaces/default/endpoint', { paused: true })
  for (const text of [...replies.map(one => one.body), JSON.stringify(changed.body)]) {
    expect(text).not.toContain(next)
    expect(text).not.toContain(SECRET)
  }
})

import { inspect } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Client, type ClientOptions } from './client.ts'
import { ClientError } from './client-error.ts'
import type { Fetch } from './post.ts'

const apiKey = 'key-that-must-not-leak'
const baseUrl = 'https://api.example.com'
const unreachable: Fetch = () => Promise.reject(new Error('a byte was sent'))

afterEach(() => vi.unstubAllGlobals())

function refusal(action: () => unknown): ClientError {
  try {
    action()
  } catch (error) {
    if (error instanceof ClientError) return error
  }
  return expect.unreachable('it was accepted')
}

describe('new Client', () => {
  it('hides the key from logs', () => {
    const client = new Client({ apiKey, baseUrl })
    expect(inspect(client, { depth: 9, showHidden: true })).not.toContain(apiKey)
    expect(JSON.stringify(client)).not.toContain(apiKey)
  })

  it.each<[string, unknown]>([
    ['apiKey', { baseUrl }],
    ['apiKey', { apiKey: '', baseUrl }],
    ['apiKey', { apiKey: `${apiKey}\n`, baseUrl }],
    ['apiKey', { apiKey: `${apiKey} `, baseUrl }],
    ['apiKey', { apiKey: `${apiKey}ä`, baseUrl }],
    ['baseUrl', { apiKey }],
    ['baseUrl', { apiKey, baseUrl: 'api.example.com' }],
    ['baseUrl', { apiKey, baseUrl: 'ftp://api.example.com' }],
    ['baseUrl', { apiKey, baseUrl: `https://user:${apiKey}@api.example.com` }],
    ['baseUrl', { apiKey, baseUrl: `https://api.example.com?key=${apiKey}` }],
    ['baseUrl: must not end in /v1', { apiKey, baseUrl: 'https://api.example.com/v1' }],
    ['baseUrl: must not end in /v1', { apiKey, baseUrl: 'https://api.example.com/gateway/v1//' }],
    ['baseUrl: must not end in /v1', { apiKey, baseUrl: 'http://localhost:4400/v1/messages' }],
    ['baseUrl: must not end in /v1', { apiKey, baseUrl: 'http://localhost:4400/v1/messages/' }],
    ['allowInsecure', { apiKey, baseUrl: 'http://app:3000' }],
    ['allowInsecure', { apiKey, baseUrl: 'http://127.0.0.1.example.com' }],
    ['timeout', { apiKey, baseUrl, timeout: '6m' }],
    ['timeout', { apiKey, baseUrl, timeout: '0s' }],
    ["'30000ms' or '30000s'", { apiKey, baseUrl, timeout: 30_000 }],
    ['fetch', { apiKey, baseUrl, fetch: true }],
    ['apikey', { apikey: apiKey, baseUrl }],
    ['the options of send are signal, timeout, retry', { apiKey, baseUrl, retry: 'unsent' }],
    ['options', undefined],
    ['options', apiKey],
  ])('refuses a wrong %s by its name, and shows no key', (name, options) => {
    const error = refusal(() => new Client(options as ClientOptions))
    expect(error).toMatchObject({ name: 'ClientError', code: 'configuration', sent: 'no' })
    expect(error.message).toContain(name)
    expect(inspect(error)).not.toContain(apiKey)
  })

  it('requires a fetch if there is no global one', () => {
    vi.stubGlobal('fetch', undefined)
    expect(refusal(() => new Client({ apiKey, baseUrl })).message).toContain('fetch')
    expect(new Client({ apiKey, baseUrl, fetch: unreachable })).toBeInstanceOf(Client)
  })

  it.each([
    'http://localhost:3000',
    'http://api.localhost',
    'http://127.0.0.1:3000',
    'http://127.9.9.9',
    'http://[::1]:3000',
    'https://api.example.com/gateway/',
    'https://api.example.com/messages',
    'https://api.example.com/v10',
    'https://v1',
  ])('accepts %s', address => {
    expect(new Client({ apiKey, baseUrl: address })).toBeInstanceOf(Client)
  })

  it('accepts plain HTTP to another machine if that is allowed', () => {
    const options = { apiKey, baseUrl: 'http://app:3000', allowInsecure: true }
    expect(new Client(options)).toBeInstanceOf(Client)
  })
})

describe('messages.send', () => {
  const message = { channel: 'whatsapp', to: '+4915112345678', template: 'order_shipped' }
  const circle: Record<string, unknown> = {}
  circle['self'] = circle

  it.each<[string, object | undefined | string]>([
    ['channel', { ...message, channel: '' }],
    ['template', { ...message, template: undefined }],
    ['to', { ...message, to: '4915112345678' }],
    ['to', { ...message, to: '004915112345678' }],
    ['to', { ...message, to: ' +4915112345678' }],
    ['to', { ...message, to: '+' }],
    ['to', { ...message, to: 4915112345678 }],
    ['variables', { ...message, variables: null }],
    ['variables', { ...message, variables: ['a-value'] }],
    ['variables.order', { ...message, variables: { order: undefined } }],
    ['variables.total', { ...message, variables: { total: Number.NaN } }],
    ['variables.total', { ...message, variables: { total: Number.POSITIVE_INFINITY } }],
    ['variables', { ...message, variables: circle }],
    ['variables', { ...message, variables: { order: 1n } }],
    ['variable', { ...message, variable: { order: 'a-value' } }],
    ['fields', undefined],
    ['fields', '+4915112345678'],
  ])('refuses a wrong %s by its name before a byte is sent', async (name, wrong) => {
    const { messages } = new Client({ apiKey, baseUrl, fetch: unreachable })
    const error: unknown = await messages.send(wrong as never).catch(thrown => thrown)
    expect(error).toMatchObject({ code: 'configuration', sent: 'no', message: expect.stringContaining(name) })
    expect(inspect(error)).not.toMatch(/4915112345678|a-value/)
  })

  it.each([
    ['signals', { signals: undefined }],
    ['signal', { signal: new AbortController() }],
    ['timeout', { timeout: 5 }],
    ['headers.Authorization', { headers: { Authorization: 'Bearer a-value' } }],
    ['headers.content-type', { headers: { 'content-type': 'a-value' } }],
    ['headers', { headers: { 'x-trace': 'a-value\r\n' } }],
    ['headers', { headers: { 'x trace': 'a-value' } }],
    ['headers', { headers: { 'x-trace': undefined } }],
  ])('refuses the wrong option %s by its name before a byte is sent', async (name, options) => {
    const { messages } = new Client({ apiKey, baseUrl, fetch: unreachable })
    const error: unknown = await messages.send(message, options as never).catch(thrown => thrown)
    expect(error).toMatchObject({ code: 'configuration', message: expect.stringContaining(name) })
    expect(inspect(error)).not.toContain('a-value')
  })
})

import { misconfigured } from './client-error.ts'
import { type Duration, durationMs } from './duration.ts'
import type { Message } from './message.ts'
import type { Fetch } from './post.ts'
import { refuseBrowsers, refuseOldNode } from './refuse-browsers.ts'
import { refuseUnknownNames } from './refuse-unknown-names.ts'
import type { BodySchema } from './schema.ts'
import { type Platform, SEND_OPTIONS, type SendOptions, send } from './send.ts'
import type { SendResult } from './send-result.ts'

/** Options of a client: address, key and limits. */
export interface ClientOptions {
  /** Your API key. Required: an unset environment variable is refused. It is never shown or logged. */
  readonly apiKey: string | undefined
  /**
   * Address of the platform's API, without a trailing `/v1`: the client adds `/v1/messages`. Required: no address is
   * published. HTTPS, except on loopback or with {@link ClientOptions.allowInsecure}.
   */
  readonly baseUrl: string | undefined
  /** Time limit of one request, until its response has been read. Default `'30s'`, at most `'5m'`. */
  readonly timeout?: Duration | undefined
  /** Allows plain HTTP to other machines, for example to a container: the key is then readable in transit. */
  readonly allowInsecure?: boolean | undefined
  /** Used instead of the global `fetch`, for example one with a proxy. It must obey its `signal`. */
  readonly fetch?: Fetch | undefined
}

const OPTIONS = ['apiKey', 'baseUrl', 'timeout', 'allowInsecure', 'fetch']

/**
 * Client of the platform's API, for servers. Throws a {@link ClientError} with the code `configuration` for a wrong
 * option, and in a browser, where anyone could read the key.
 *
 * @example
 * const client = new Client({ apiKey: process.env.API_KEY, baseUrl: process.env.API_URL })
 * const { status } = await client.messages.send({
 *   channel: 'whatsapp',
 *   to: '+4915112345678',
 *   template: 'order_shipped',
 *   variables: { order: 'A-1001' },
 * })
 */
export class Client {
  /** Messages, the only published part of the API. */
  readonly messages: Messages

  constructor(options: ClientOptions) {
    refuseBrowsers()
    refuseOldNode()
    refuseUnknownNames('options', options, OPTIONS, `; the options of send are ${SEND_OPTIONS.join(', ')}`)
    // Kept in a closure, not in a field, so that no log of the client shows the key.
    const platform = toPlatform(options)
    const sendMessage = (message: Message, how?: SendOptions): Promise<SendResult> =>
      send(platform, message, how)
    this.messages = { send: sendMessage as Messages['send'] }
  }
}

function toPlatform({ apiKey, baseUrl, timeout, allowInsecure, fetch }: ClientOptions): Platform {
  // Allows only characters that are valid in a header: an error of `fetch` about others would show the key.
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw misconfigured(
      'apiKey',
      'must be your API key, without spaces or line breaks; is its environment variable set?',
    )
  }
  // Each request reads the global fetch again, because test tools replace it.
  if (typeof (fetch ?? globalThis.fetch) !== 'function') {
    throw misconfigured('fetch', 'must be a function; this runtime has no global one')
  }
  return {
    apiKey,
    url: `${checkBaseUrl(baseUrl, allowInsecure === true)}/v1/messages`,
    timeoutMs: durationMs('timeout', timeout ?? '30s'),
    fetch,
  }
}

/** Returns the address without a trailing slash. */
function checkBaseUrl(baseUrl: unknown, allowInsecure: boolean): string {
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw misconfigured('baseUrl', 'must be the address of the API, such as https://api.example.com')
  }
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') {
    throw misconfigured('baseUrl', 'must not contain a user, a query or a fragment')
  }
  if (url.protocol === 'http:' && !allowInsecure && !isLoopback(url.hostname)) {
    throw misconfigured(
      'baseUrl',
      'must begin with https://, or the key is readable in transit; see allowInsecure',
    )
  }
  // Otherwise each request would go to /v1/v1/messages.
  if (/\/v1(\/+messages)?\/*$/.test(url.pathname)) {
    throw misconfigured(
      'baseUrl',
      'must not end in /v1 or /v1/messages: the client adds that, so leave it out',
    )
  }
  return url.href.replace(/\/+$/, '')
}

function isLoopback(hostname: string): boolean {
  return /^(127(\.\d+){3}|\[::1\]|(.+\.)?localhost)$/.test(hostname)
}

/** Messages to your customers. */
export interface Messages {
  /**
   * Sends one message with `POST {baseUrl}/v1/messages`. Resolves for any 2xx, whatever its body: the platform's response
   * body is undocumented. Otherwise rejects with a `ClientError`, or with the signal's reason if `signal` was aborted; the
   * message may then have been sent. Requests are repeated only with `retry`.
   *
   * With `schema`, any Standard Schema, the body is checked and has the schema's type.
   */
  send(message: Message, options?: SendOptions): Promise<SendResult>
  send<Body>(
    message: Message,
    options: SendOptions & { readonly schema: BodySchema<Body> },
  ): Promise<SendResult<Body>>
}

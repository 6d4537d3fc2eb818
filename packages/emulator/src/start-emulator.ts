import type { RequestListener, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { getRequestListener } from '@hono/node-server'
import type { EmulatorApi, WaitResult } from './api/emulator-api.ts'
import type { Parts } from './api/parts.ts'
import { createApi, createParts } from './create-parts.ts'
import { EmulatorError } from './errors/emulator-error.ts'
import { createApp, withSecurityHeaders } from './http/app.ts'
import { Assets } from './http/assets.ts'
import { type Listening, listen } from './http/listen.ts'
import { errorReply, SECURITY_HEADERS } from './http/reply.ts'
import { type EmulatorOptions, resolveEmulator } from './options/emulator-options.ts'
import { HostCheck } from './security/request-check.ts'
import type { WaitOptions } from './shapes/requests.ts'
import { Storage } from './storage/storage.ts'

/** A running emulator. */
export interface Emulator {
  /** Base URL, without a trailing slash. */
  readonly url: string
  /** All operations, called in-process rather than over HTTP. */
  readonly api: EmulatorApi
  /** Signing secret of the default workspace's endpoint, if `startEmulator` set or generated it. */
  readonly secret: string | undefined
  /**
   * Resolves when enough events match, or without a filter when nothing is pending. Rejects with `EmulatorError` after
   * `timeout`, in real time: 10 seconds by default.
   */
  wait(options?: WaitOptions): Promise<WaitResult>
  /** Empties the log: see {@link EmulatorApi.reset}. */
  reset(options?: { readonly everything?: boolean | undefined }): Promise<void>
  /** Stops the emulator. Pending deliveries in a data file continue when an emulator starts with that file. */
  close(): Promise<void>
}

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

/**
 * Starts an emulator of the platform on this machine. Resolves once it listens. Rejects with `ConfigurationError` for
 * an invalid option, a port in use or a file that cannot be opened.
 *
 * @example
 * const emulator = await startEmulator({ port: 0, to: url, secret })
 * await emulator.api.send('conversation.resolved')
 * await emulator.wait({ state: 'acknowledged' })
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const resolved = resolveEmulator(options)
  const storage = await Storage.open(resolved.data, resolved.retention.bytes)
  try {
    const { parts, secret } = createParts(resolved, storage, version)
    const api = createApi(parts)
    const listening = await listen(listenerFor(parts, api), resolved.port, resolved.host)
    parts.engine.startDue()
    return new RunningEmulator(parts, api, listening, secret)
  } catch (error) {
    storage.close()
    throw error
  }
}

class RunningEmulator implements Emulator {
  readonly url: string
  readonly api: EmulatorApi
  readonly secret: string | undefined
  readonly #parts: Parts
  readonly #listening: Listening
  #closing: Promise<void> | undefined

  constructor(parts: Parts, api: EmulatorApi, listening: Listening, secret: string | undefined) {
    this.url = `http://${reachable(parts.options.host)}:${listening.port}`
    this.api = api
    this.secret = secret
    this.#parts = parts
    this.#listening = listening
  }

  async wait(options: WaitOptions = {}): Promise<WaitResult> {
    const result = await this.api.wait(options)
    if (result.met) return result
    const { counts } = await this.api.health()
    const states = Object.entries(counts).filter(([, count]) => count > 0)
    const found = states.map(([state, count]) => `${count} ${state}`).join(', ') || 'no deliveries'
    throw new EmulatorError(
      'wait_timeout',
      `timed out waiting for ${JSON.stringify(options)}: ${result.count} events match; the log has ${found}`,
    )
  }

  reset(options: { readonly everything?: boolean | undefined } = {}): Promise<void> {
    return this.api.reset(options)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { batches, engine, faults, feed, storage, housekeeping, waiters } = this.#parts
    feed.close()
    batches.close()
    faults.close()
    waiters.close()
    housekeeping.close()
    await this.#listening.close()
    await engine.close()
    storage.close()
  }
}

/** Returns a host name that reaches the emulator from this machine. */
function reachable(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

function listenerFor(parts: Parts, api: EmulatorApi): RequestListener {
  const { token, page, host, allowedHosts, messageReply } = parts.options
  const assets = new Assets(page)
  const app = createApp({ api, feed: parts.feed, assets, token, version: parts.version, messageReply })
  const respond = getRequestListener(async request => withSecurityHeaders(await app.fetch(request)), {
    overrideGlobalObjects: false,
    errorHandler: error => withSecurityHeaders(errorReply(error)),
  })
  const hosts = new HostCheck(host ?? 'localhost', allowedHosts)
  return (request, response) => {
    if (hosts.allows(request)) void respond(request, response)
    else refuseHost(response)
  }
}

/** Refuses a request before anything else reads it. */
function refuseHost(response: ServerResponse): void {
  const error = { code: 'forbidden', message: 'this host name is not allowed: see the option allowedHosts' }
  response
    .writeHead(403, { ...SECURITY_HEADERS, 'content-type': 'application/json', connection: 'close' })
    .end(JSON.stringify({ error }))
}

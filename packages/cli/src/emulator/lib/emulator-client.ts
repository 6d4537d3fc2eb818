import { UsageError } from '../../command/usage-error.ts'
import type { Terminal } from '../../terminal/terminal.ts'

const ROOT = '/_emulator/v1'
/** Default address of an emulator. */
export const DEFAULT_PORT = 4400
const DEFAULT_ADDRESS = `http://localhost:${DEFAULT_PORT}`

/** A call that the emulator refuses. */
export class EmulatorRefusal extends Error {
  override readonly name: string = 'EmulatorRefusal'
  readonly status: number
  /** Faulty part of the request, by its name in the API. */
  readonly field: string | undefined

  constructor(status: number, message: string, field?: string) {
    super(message)
    this.status = status
    this.field = field
  }
}

/** Query and body of a call. */
interface Input {
  readonly query?: object
  readonly body?: object
}

/** A running emulator, over HTTP. */
export class EmulatorClient {
  readonly #address: string
  readonly #terminal: Terminal

  /** `at` is its address; the default is that of the environment, or of this machine. */
  constructor(at: string | undefined, terminal: Terminal) {
    this.#address = (at ?? terminal.env['ACKHOOK_EMULATOR'] ?? DEFAULT_ADDRESS).replace(/\/+$/, '')
    this.#terminal = terminal
  }

  get<T>(path: string, query: object = {}): Promise<T> {
    return this.call('GET', path, { query })
  }

  post<T>(path: string, body: object = {}): Promise<T> {
    return this.call('POST', path, { body })
  }

  /** One call of the API. Rejects with `EmulatorRefusal`. */
  async call<T>(method: string, path: string, { query = {}, body }: Input = {}): Promise<T> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined)
    const search = new URLSearchParams(Object.fromEntries(given))
    const full = ROOT + (search.size === 0 ? path : `${path}?${search}`)
    const reply = await this.#fetch(method, full, body && JSON.stringify(body))
    const text = await reply.text()
    const value = parse(text)
    if (reply.ok && (value !== undefined || reply.status === 204)) return value as T
    const { error } = Object(value) as { error?: { message?: string; field?: string } }
    if (error?.message === undefined) throw new UsageError(this.#noEmulator(`it answered ${reply.status}`))
    if (reply.status === 401) {
      throw new UsageError('this emulator has a token: set ACKHOOK_EMULATOR_TOKEN as it was set for it')
    }
    throw new EmulatorRefusal(reply.status, error.message, error.field)
  }

  /** `POST /v1/messages`, as an app calls it. Any reply is a result. */
  async sendMessage(message: object): Promise<{ readonly status: number; readonly body: unknown }> {
    const token = this.#terminal.env['ACKHOOK_EMULATOR_TOKEN'] || 'any-key'
    const headers = { authorization: `Bearer ${token}` }
    const reply = await this.#fetch('POST', '/v1/messages', JSON.stringify(message), headers)
    const text = await reply.text()
    return { status: reply.status, body: parse(text) ?? text }
  }

  async #fetch(
    method: string,
    path: string,
    body: string | undefined,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const { stop, env } = this.#terminal
    try {
      const headers = { 'content-type': 'application/json', ...callHeaders(env), ...more }
      return await fetch(this.#address + path, { method, headers, body: body ?? null, signal: stop })
    } catch (cause) {
      if (stop.aborted) throw cause
      const reason = (cause as Error).cause ?? cause
      throw new UsageError(this.#noEmulator((reason as { code?: string }).code ?? String(reason)), { cause })
    }
  }

  #noEmulator(reason: string): string {
    return `there is no emulator at ${this.#address} (${reason}). Start one with npx ackhook emulator start --to <url>, or name its address with --at`
  }
}

/** Headers of every call of the API. */
export function callHeaders(env: Terminal['env']): Record<string, string> {
  const token = env['ACKHOOK_EMULATOR_TOKEN']
  return { 'x-ackhook': '1', ...(token && { authorization: `Bearer ${token}` }) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

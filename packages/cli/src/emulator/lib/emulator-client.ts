import { UsageError } from '../../command/usage-error.ts'
import type { Terminal } from '../../terminal/terminal.ts'

const ROOT = '/_emulator/v1'
/** Default address of an emulator. */
export const DEFAULT_PORT = 4400
const DEFAULT_ADDRESS = `http://localhost:${DEFAULT_PORT}`
/** Time limit until the last byte of a reply. */
const REPLY_MS = 30_000
/** Longest time that the emulator itself may wait, in `POST /wait`. */
const WAIT_MS = 60_000

/** Error for a call that the emulator refuses. */
export class EmulatorRefusal extends Error {
  override readonly name: string = 'EmulatorRefusal'
  readonly status: number
  /** Name in the API of the invalid field. */
  readonly field: string | undefined

  constructor(status: number, message: string, field?: string) {
    super(message)
    this.status = status
    this.field = field
  }
}

/** Query and body of an API call. */
interface Input {
  readonly query?: object
  readonly body?: object
}

interface EmulatorReply {
  readonly status: number
  readonly ok: boolean
  readonly text: string
}

/** HTTP client of a running emulator. */
export class EmulatorClient {
  readonly #address: string
  readonly #terminal: Terminal
  readonly #replyMs: number

  /** Uses the address `at`, otherwise that in `ACKHOOK_EMULATOR`, otherwise the default port of this machine. */
  constructor(at: string | undefined, terminal: Terminal, replyMs: number = REPLY_MS) {
    this.#replyMs = replyMs
    this.#address = (at ?? terminal.env['ACKHOOK_EMULATOR'] ?? DEFAULT_ADDRESS).replace(/\/+$/, '')
    this.#terminal = terminal
  }

  get<T>(path: string, query: object = {}): Promise<T> {
    return this.call('GET', path, { query })
  }

  post<T>(path: string, body: object = {}): Promise<T> {
    return this.call('POST', path, { body })
  }

  /** Calls the API. Rejects with `EmulatorRefusal`. */
  async call<T>(method: string, path: string, { query = {}, body }: Input = {}): Promise<T> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined)
    const search = new URLSearchParams(Object.fromEntries(given))
    const full = ROOT + (search.size === 0 ? path : `${path}?${search}`)
    const reply = await this.#fetch(method, full, body && JSON.stringify(body))
    const value = parse(reply.text)
    if (reply.ok && (value !== undefined || reply.status === 204)) return value as T
    const { error } = Object(value) as { error?: { message?: string; field?: string } }
    if (error?.message === undefined) throw new UsageError(this.#noEmulator(`it returned ${reply.status}`))
    if (reply.status === 401) {
      throw new UsageError(
        'this emulator requires its token: set ACKHOOK_EMULATOR_TOKEN to the same value as for start',
      )
    }
    throw new EmulatorRefusal(reply.status, error.message, error.field)
  }

  /** Calls `POST /v1/messages` as an app does. Every reply is a result. */
  async sendMessage(message: object): Promise<{ readonly status: number; readonly body: unknown }> {
    const token = this.#terminal.env['ACKHOOK_EMULATOR_TOKEN'] || 'any-key'
    const headers = { authorization: `Bearer ${token}` }
    const { status, text } = await this.#fetch('POST', '/v1/messages', JSON.stringify(message), headers)
    return { status, body: parse(text) ?? text }
  }

  async #fetch(
    method: string,
    path: string,
    body: string | undefined,
    more: Readonly<Record<string, string>> = {},
  ): Promise<EmulatorReply> {
    const { stop, env } = this.#terminal
    const limitMs = this.#replyMs + (path === `${ROOT}/wait` ? WAIT_MS : 0)
    const late = AbortSignal.timeout(limitMs)
    const signal = AbortSignal.any([stop, late])
    try {
      const headers = { 'content-type': 'application/json', ...callHeaders(env), ...more }
      const reply = await fetch(this.#address + path, { method, headers, body: body ?? null, signal })
      return { status: reply.status, ok: reply.ok, text: await reply.text() }
    } catch (cause) {
      if (stop.aborted) throw cause
      if (late.aborted) throw new UsageError(this.#silent(limitMs), { cause })
      const reason = (cause as Error).cause ?? cause
      throw new UsageError(this.#noEmulator((reason as { code?: string }).code ?? String(reason)), { cause })
    }
  }

  #silent(limitMs: number): string {
    return `${this.#address} did not reply within ${limitMs / 1000} s. The call may still take effect. Check that an emulator runs there, and that the network passes its replies on`
  }

  #noEmulator(reason: string): string {
    return `there is no emulator at ${this.#address} (${reason}). Start one with npx ackhook emulator start --to <url>, or give its address with --at`
  }
}

/** Headers of every API call. */
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

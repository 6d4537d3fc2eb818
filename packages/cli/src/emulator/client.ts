import { printable } from '@ackhook/core/spi'
import { EXIT } from '../command/exit-codes.ts'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint } from '../terminal/text.ts'
import type { PlaceFlags } from './options.ts'

const ROOT = '/_emulator/v1'
/** Default address of an emulator. */
export const DEFAULT_PORT = 4400
const DEFAULT_ADDRESS = `http://localhost:${DEFAULT_PORT}`
/** Time limit until the last byte of a reply. */
const REPLY_MS = 30_000
/** Longest time that the emulator itself may wait, in `POST /wait`. */
const WAIT_MS = 60_000

/** Error for a call that the emulator refuses. */
class EmulatorRefusal extends Error {
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

/** Fields with another name on the command line. */
const TYPED_AS: Readonly<Record<string, string>> = { url: 'the address', by: 'the duration', to: '--until' }

/** Calls the emulator given by the flags. A refusal is exit code 1; a wrong field throws `UsageError`. */
export async function withEmulator(
  flags: PlaceFlags,
  terminal: Terminal,
  work: (emulator: EmulatorClient) => Promise<number>,
  typedAs: Readonly<Record<string, string>> = TYPED_AS,
): Promise<number> {
  try {
    return await work(new EmulatorClient(flags.at, terminal))
  } catch (error) {
    // Ctrl-C interrupted a call.
    if (terminal.stop.aborted) return EXIT.failed
    if (!(error instanceof EmulatorRefusal)) throw error
    if (error.status === 400) {
      const { field = '', message } = error
      const typed = message.startsWith(`${field} `) && typedAs[field]
      const text = typed ? typed + message.slice(field.length) : message
      throw new UsageError(text.replace('allowTargets', 'allowTargets (emulator start --allow-target)'), {
        cause: error,
      })
    }
    const message = error.message.endsWith('has no endpoint')
      ? `${error.message}. ${NO_ENDPOINT}`
      : error.message
    if (flags.json) terminal.err(JSON.stringify({ error: message }))
    else terminal.err(`${createPaint(terminal.colors).bad('Error:')} ${printable(message)}`)
    return EXIT.failed
  }
}

/** Advice for a workspace without an endpoint. */
export const NO_ENDPOINT = "Set your app's address: npx ackhook emulator endpoint set --to <url>"

/** A receiver's default tolerance. */
const TOLERANCE_MS = 300_000

/** Warns if the emulator's clock, at `time`, is further ahead of this machine's than receivers accept. */
export function clockAhead(time: string | null): string | undefined {
  const aheadMs = time === null ? 0 : Date.parse(time) - Date.now()
  if (aheadMs <= TOLERANCE_MS) return undefined
  const minutes = Math.round(aheadMs / 60_000)
  return `The emulator's clock is ${minutes} minutes ahead of this machine's. An app that does not follow it refuses every signature: npx ackhook emulator reset resets the clock and empties the log. To make an attempt early, use retry, which needs no advance.`
}

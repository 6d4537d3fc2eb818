import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FakeClock, fakeClock } from '@ackhook/testing'
import { afterEach } from 'vitest'
import { startPatientEmulator } from '../../../test/support/patient-emulator.ts'
import type { Emulator, EmulatorOptions } from '../src/index.ts'
import { DescribedApi } from './described-api.ts'

export const SECRET = 'whsec_test_0123456789abcdef'

const leftovers: (() => unknown)[] = []

afterEach(async () => {
  for (const stop of leftovers.splice(0).reverse()) await stop()
})

/** Registers a cleanup for the end of the test, run in reverse order. */
export function after(stop: () => unknown): void {
  leftovers.push(stop)
}

/** Returns a path for an emulator's data file, in a new folder. */
export function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-emulator-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'emulator.db')
}

/** Starts a server on loopback. */
export async function serve(listener: RequestListener, host = '127.0.0.1'): Promise<string> {
  const server = createServer(listener).listen(0, host)
  await new Promise(resolve => server.once('listening', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/webhooks`
}

/** A received request. */
export interface Got {
  readonly headers: IncomingMessage['headers']
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
  readonly event: any
}

export interface Answering {
  readonly url: string
  readonly got: Got[]
  /** Statuses of the next replies, followed by `otherwise`. */
  readonly next: number[]
  otherwise: number
}

/** Starts a receiver that replies with given statuses, and records its requests. */
export async function answering(
  next: number[] = [],
  reply?: (response: ServerResponse) => void,
): Promise<Answering> {
  const got: Got[] = []
  const state = { got, next: [...next], otherwise: 202, url: '' }
  state.url = await serve((request, response) => {
    const chunks: Buffer[] = []
    request
      .on('data', chunk => chunks.push(chunk))
      .on('end', () => {
        const body = Buffer.concat(chunks).toString()
        got.push({ headers: request.headers, body, event: parse(body) })
        if (reply !== undefined) return reply(response)
        const status = state.next.shift() ?? state.otherwise
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify({ code: `code_${status}` }))
      })
  })
  return state
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export interface Running {
  readonly emulator: Emulator
  readonly clock: FakeClock
  readonly http: DescribedApi
}

/** Starts an emulator whose clock only the test moves. */
export async function start(options: EmulatorOptions = {}): Promise<Running> {
  const clock = fakeClock('2026-03-01T12:00:00Z')
  const emulator = await startPatientEmulator({ port: 0, seed: 1, clock, secret: SECRET, ...options })
  after(() => emulator.close())
  return { emulator, clock, http: await DescribedApi.of(emulator.url) }
}

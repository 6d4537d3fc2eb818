import {
  type BodyLimits,
  createReceiver,
  type MaybePromise,
  type Receiver,
  type WebhookReply,
  type WebhookRequest,
} from '@ackhook/core'
import { Refusal } from '@ackhook/core/spi'
import { until } from '../../lib/until.ts'
import { adapterSuiteOptions, type MountedTarget, type OwnCase } from '../target.ts'
import { exchange, openConnection } from '../wire/connection.ts'
import type { WireReply } from '../wire/reply-reader.ts'
import { signedEvent, signedRequest } from '../wire/signed-event.ts'

type Mount = (receiver: Receiver<never, never>) => MaybePromise<MountedTarget>

const BUSY: WebhookReply = {
  status: 503,
  headers: { 'content-type': 'application/json', 'content-length': '15', 'retry-after': '7' },
  body: '{"code":"busy"}',
}

/** Headers that servers and frameworks add to every reply. */
const OF_SERVERS: ReadonlySet<string> = new Set([
  'connection',
  'date',
  'keep-alive',
  'server',
  'x-powered-by',
])

/** Cases about the request that an adapter passes to a receiver, and the reply that it sends. */
export function mountedCases(mount: Mount): readonly OwnCase[] {
  return [
    {
      id: 'adapter.mounted.reply',
      name: 'the status, headers and body of a 503 are sent unchanged, including Retry-After',
      run: () => withMounted(mount, {}, expectBusy),
    },
    {
      id: 'adapter.mounted.once',
      name: 'one request calls `handle` once',
      run: () =>
        withMounted(mount, {}, async (url, seen) => {
          await exchange(url, signedEvent(adapterSuiteOptions).request)
          if (seen.requests.length !== 1) throw new Error(`handle was called ${seen.requests.length} times`)
        }),
    },
    {
      id: 'adapter.mounted.failure',
      name: 'a request whose `handle` rejects gets 500',
      run: () =>
        withMounted(mount, { fails: true }, async url => {
          const { status } = await exchange(url, signedEvent(adapterSuiteOptions).request)
          if (status !== 500) throw new Error(`expected 500, got ${status}`)
        }),
    },
    {
      id: 'adapter.mounted.context',
      name: 'each request has its own context',
      run: () =>
        withMounted(mount, {}, async (url, seen) => {
          for (let i = 0; i < 2; i++) await exchange(url, signedEvent(adapterSuiteOptions).request)
          const [first, second] = seen.requests.map(({ context }) => context)
          if (typeof first !== 'object' || first === null) throw new Error(`the context is ${String(first)}`)
          if (first === second) throw new Error('two requests had the same context')
        }),
    },
    ...readingCases(mount),
  ]
}

function readingCases(mount: Mount): readonly OwnCase[] {
  return [
    {
      id: 'adapter.mounted.limit',
      name: "a body is read up to the receiver's limit, with and without Content-Length",
      run: () =>
        withMounted(mount, { maxBytes: 100 }, async (url, seen) => {
          for (const [bytes, framing] of [
            [100, 'chunked'],
            [101, 'chunked'],
            [101, 'length'],
          ] as const) {
            await exchange(url, { ...signedRequest(adapterSuiteOptions, 'x'.repeat(bytes)), framing })
            expectBody(seen.bodies.at(-1), bytes > 100 ? 'body_too_large' : bytes)
          }
        }),
    },
    {
      id: 'adapter.mounted.abort',
      name: 'reading an upload that breaks off ends immediately, as aborted',
      run: () =>
        withMounted(mount, { timeoutMs: 10_000 }, async (url, seen) => {
          const connection = await openConnection(url)
          connection.writeHead({ ...signedRequest(adapterSuiteOptions, 'x'.repeat(50)), framing: 'length' })
          connection.socket.write('x')
          await until(() => seen.requests.length > 0, '`handle` is called')
          connection.socket.destroy()
          await until(() => seen.bodies.length > 0, 'the reading of the body ends')
          expectBody(seen.bodies[0], 'body_aborted')
        }),
    },
  ]
}

interface Seen {
  readonly requests: WebhookRequest<unknown>[]
  readonly bodies: (Uint8Array | Refusal)[]
}

interface Behavior extends Partial<BodyLimits> {
  readonly fails?: boolean
}

/** Mounts one of the suite's receivers and passes its requests to `test`. */
export async function withMounted(
  mount: Mount,
  { fails = false, maxBytes = 65_536, timeoutMs = 2000 }: Behavior,
  test: (url: string, seen: Seen) => Promise<void>,
): Promise<void> {
  const seen: Seen = { requests: [], bodies: [] }
  const quiet = { info() {}, warn() {}, error() {} }
  const receiver = createReceiver({ ...adapterSuiteOptions, logger: quiet })
  const handle = async (request: WebhookRequest<unknown>): Promise<WebhookReply> => {
    seen.requests.push(request)
    if (fails) throw new Error('thrown by the suite')
    const { body } = request
    seen.bodies.push(typeof body === 'function' ? await body({ maxBytes, timeoutMs }) : body)
    return BUSY
  }
  const target = await mount({ ...receiver, handle } as unknown as Receiver<never, never>)
  try {
    await test(target.url, seen)
  } finally {
    await target.close?.()
    await receiver.close()
  }
}

async function expectBusy(url: string): Promise<void> {
  const { status, headers, body }: WireReply = await exchange(url, signedEvent(adapterSuiteOptions).request)
  if (status !== BUSY.status || body !== BUSY.body)
    throw new Error(`expected 503 busy, got ${status}: ${body}`)
  for (const [name, value] of Object.entries(BUSY.headers)) {
    if (headers.get(name) !== value) throw new Error(`expected ${name}: ${value}, got ${headers.get(name)}`)
  }
  for (const name of headers.keys()) {
    if (!(name in BUSY.headers) && !OF_SERVERS.has(name))
      throw new Error(`the adapter added the header ${name}: ${headers.get(name)}`)
  }
}

function expectBody(body: Uint8Array | Refusal | undefined, expected: number | string): void {
  const got = body instanceof Refusal ? body.code : body?.length
  if (got !== expected) throw new Error(`expected a body of ${expected}, got ${got}`)
}

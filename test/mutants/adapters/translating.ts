import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { adapterSuiteOptions } from '@ackhook/conformance/adapter'
import type { WebhookReply, WebhookRequest } from '@ackhook/core'
import type { Mutants } from '../mutant.ts'
import { adapterMutant } from './adapter-mutant.ts'
import { type Options, SmallAdapter, type WaitUntil } from './small-adapter.ts'

type RequestHeaders = IncomingMessage['headers']

function written(
  change: (reply: WebhookReply, request: IncomingMessage) => WebhookReply,
): typeof SmallAdapter {
  return class extends SmallAdapter {
    protected override write(request: IncomingMessage, response: ServerResponse, reply: WebhookReply) {
      return super.write(request, response, change(reply, request))
    }
  }
}

function headed(
  change: (headers: RequestHeaders, request: IncomingMessage) => RequestHeaders,
): typeof SmallAdapter {
  return class extends SmallAdapter {
    protected override headers(request: IncomingMessage): RequestHeaders {
      return change(request.headers, request)
    }
  }
}

function withContext(context: unknown): typeof SmallAdapter {
  return class extends SmallAdapter {
    protected override context(): unknown {
      return context
    }
  }
}

const status = (from: number, to: number) => written(r => (r.status === from ? { ...r, status: to } : r))
const without = (headers: object, name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([one]) => one !== name))
const dropped = (name: string) => written(r => ({ ...r, headers: without(r.headers, name) }))
const added = (name: string) => written(r => ({ ...r, headers: { ...r.headers, [name]: 'x' } }))

/** Creates an adapter that changes its options. */
function made(change: (options: Options) => Options): typeof SmallAdapter {
  return class extends SmallAdapter {
    static override receiverOf(options: Options) {
      return SmallAdapter.receiverOf(change(options))
    }
  }
}

class NeverWaits extends SmallAdapter {
  protected override waitUntil(): WaitUntil | undefined {
    return undefined
  }
}

class WaitsForAnother extends SmallAdapter {
  protected override waitUntil(): WaitUntil {
    return () => {}
  }
}

/** Closes as over HTTP/1.1, which Node refuses over HTTP/2. */
class ClosesHttp2 extends SmallAdapter {
  protected override async write(request: IncomingMessage, response: ServerResponse, reply: WebhookReply) {
    const isOpen = request.httpVersionMajor === 2 && !request.complete
    return super.write(
      request,
      response,
      isOpen ? { ...reply, headers: { ...reply.headers, connection: 'close' } } : reply,
    )
  }
}

class EndsSession extends SmallAdapter {
  protected override endUpload(stream: ServerHttp2Stream): void {
    setTimeout(() => stream.session?.destroy(), 5)
  }
}

class Twice extends SmallAdapter {
  protected override async reply(request: WebhookRequest<never>): Promise<WebhookReply> {
    await super.reply(request)
    return super.reply(request)
  }
}

class Swallows extends SmallAdapter {
  protected override async reply(request: WebhookRequest<never>): Promise<WebhookReply> {
    return this.receiver.handle(request).catch(() => ({ status: 200, headers: {}, body: '{}' }))
  }
}

class Hangs extends SmallAdapter {
  protected override reply(request: WebhookRequest<never>): Promise<WebhookReply> {
    return this.receiver.handle(request)
  }
}

class PostOnly extends SmallAdapter {
  protected override method(): string {
    return 'POST'
  }
}

class Closes extends SmallAdapter {
  protected override async write(request: IncomingMessage, response: ServerResponse, reply: WebhookReply) {
    await super.write(request, response, reply)
    request.socket.destroy()
  }
}

class NotFound extends SmallAdapter {
  override async respond(request: IncomingMessage, response: ServerResponse) {
    if (request.method === 'GET') response.writeHead(404).end()
    else await super.respond(request, response)
  }
}

class Drains extends SmallAdapter {
  protected override async write(request: IncomingMessage, response: ServerResponse, reply: WebhookReply) {
    if (request.complete) return super.write(request, response, reply)
    response.writeHead(reply.status, reply.headers).write(reply.body)
    request.on('error', () => {}).resume()
    await new Promise(resolve => request.once('close', resolve))
    response.end()
  }
}

const firstOnly = headed((headers, { rawHeaders }) => {
  const at = rawHeaders.findIndex(one => one.toLowerCase() === 'x-service-signature')
  return at === -1 ? headers : { ...headers, 'x-service-signature': rawHeaders[at + 1] as string }
})

const FAULTS = [
  ['twice', 'calls `handle` twice', 'adapter.mounted.once', Twice],
  ['swallows', 'answers an exception 200', 'adapter.mounted.failure', Swallows],
  ['no-reply', 'does not reply after an exception', 'adapter.mounted.failure', Hangs],
  ['post-only', 'treats every method as POST', 'adapter.method.get', PostOnly],
  ['get-404', 'answers GET 404', 'adapter.method.get', NotFound],
  ['drains', 'reads a refused body to its end', 'adapter.limit.drain', Drains],
  ['closes', 'closes after each reply', 'adapter.accept.keep-alive', Closes],
  ['first-signature', 'uses the first of two signatures', 'adapter.refuse.header-twice', firstOnly],
  [
    'no-encoding',
    'hides Content-Encoding',
    'adapter.refuse.encoding',
    headed(h => without(h, 'content-encoding')),
  ],
  ['no-context', 'gives no context', 'adapter.mounted.context', withContext(undefined)],
  ['shared-context', 'shares one context between all requests', 'adapter.mounted.context', withContext({})],
  ['all-200', 'answers 200 for 202', 'adapter.accept.signed', status(202, 200)],
  ['403', 'answers 403 for 401', 'adapter.refuse.unsigned', status(401, 403)],
  ['400-large', 'answers 400 for 413', 'adapter.limit.declared', status(413, 400)],
  ['busy-500', 'answers 500 for 503', 'adapter.mounted.reply', status(503, 500)],
  ['no-retry-after', 'drops Retry-After', 'adapter.mounted.reply', dropped('retry-after')],
  ['no-allow', 'drops Allow', 'adapter.method.put', dropped('allow')],
  ['no-type', 'drops Content-Type', 'adapter.accept.signed', dropped('content-type')],
  ['own-header', 'adds its own header', 'adapter.mounted.reply', added('x-webhook-reply')],
  [
    'ignores-secret',
    'has its own secret',
    'adapter.options.secret',
    made(options => ({ ...options, secret: adapterSuiteOptions.secret })),
  ],
  [
    'ignores-namespace',
    'drops the namespace',
    'adapter.options.namespace',
    made(({ namespace: _, ...options }) => options),
  ],
  ['no-wait-until', 'drops waitUntil', 'adapter.wait-until', NeverWaits],
  ['other-wait-until', 'passes the wrong promise to waitUntil', 'adapter.wait-until', WaitsForAnother],
  ['http2-close', 'closes as over HTTP/1.1', 'adapter.http2.limit', ClosesHttp2],
  ['http2-session', 'ends the HTTP/2 connection with an upload', 'adapter.http2.limit', EndsSession],
  ['etag', 'adds an ETag', 'adapter.mounted.reply', added('etag')],
  ['cookie', 'adds a cookie', 'adapter.mounted.reply', added('set-cookie')],
  [
    'no-body',
    'writes no body',
    'adapter.accept.signed',
    written(r => ({ ...r, headers: without(r.headers, 'content-length'), body: '' })),
  ],
] as const

/** Adapters that translate a request or a reply incorrectly. */
export const mutants: Mutants = [
  ...FAULTS.map(([name, wrong, caughtBy, Adapter]) => adapterMutant(name, { wrong, caughtBy }, Adapter)),
  {
    ...adapterMutant(
      'no-length',
      { wrong: 'hides Content-Length', caughtBy: 'adapter.limit.declared' },
      headed(headers => without(headers, 'content-length')),
    ),
    mayPass: '`readRawBody` compares the declared length with the limit itself',
  },
]

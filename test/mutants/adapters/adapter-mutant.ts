import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { adapterSuite, adapterSuiteOptions, type SuiteCase } from '@ackhook/conformance/adapter'
import type { Receiver, WebhookEvent } from '@ackhook/core'
import type { Mutant } from '../mutant.ts'
import type { Options, SmallAdapter, WaitUntil } from './small-adapter.ts'

interface AdapterClass {
  new (receiver: Receiver<never, never>, waitUntil?: WaitUntil): SmallAdapter
  receiverOf(options: Options): Receiver<never, unknown>
}

/** Features of an adapter's server beyond a plain one. */
interface Surroundings {
  readonly headers?: Readonly<Record<string, string>>
  readonly options?: Options
  readonly http2?: boolean
}

const quiet = { info() {}, warn() {}, error() {} }

/** Returns the suite's cases for this adapter's servers, with every hook that it can offer. */
export function casesOn(Adapter: AdapterClass): readonly SuiteCase[] {
  const open = (surroundings: Surroundings = {}) => openAdapter(Adapter, surroundings)
  const mount = (receiver: Receiver<never, never>, waitUntil?: WaitUntil) => {
    const adapter = new Adapter(receiver, waitUntil)
    return listen((request, response) => void adapter.respond(request, response).catch(() => {}))
  }
  const cases = adapterSuite({
    open: () => open(),
    openWithHeaders: headers => open({ headers }),
    openWithOptions: options => open({ options }),
    openHttp2: () => open({ http2: true }),
    mount: receiver => mount(receiver),
    mountWithWaitUntil: mount,
  })
  // Omits the case with a thousand connections, which would take minutes for each mutant.
  return cases.filter(({ id }) => id !== 'adapter.connections.slow')
}

export function adapterMutant(
  name: string,
  { wrong, caughtBy }: Pick<Mutant, 'wrong' | 'caughtBy'>,
  Adapter: AdapterClass,
): Mutant {
  return { name, wrong, caughtBy, cases: () => casesOn(Adapter) }
}

async function openAdapter(
  Adapter: AdapterClass,
  { headers = {}, options = adapterSuiteOptions, http2 = false }: Surroundings,
) {
  const events: WebhookEvent[] = []
  const receiver = Adapter.receiverOf({ ...options, logger: quiet })
  receiver.on('*', (event: WebhookEvent) => void events.push(event))
  const adapter = new Adapter(receiver as unknown as Receiver<never, never>)
  const { url, close } = await listen(async (request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    if (request.url === '/parsed') for await (const _ of request);
    adapter.respond(request, response).catch(() => {})
  }, http2)
  const closeAll = async () => {
    await close()
    await receiver.close()
  }
  return { url, parsedUrl: `${url}parsed`, handled: () => events, close: closeAll }
}

async function listen(listener: RequestListener, http2 = false) {
  const server = http2 ? (createHttp2Server(listener as never) as unknown as Server) : createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = async () => {
    // An HTTP/2 server has no such method: the suite closes the connections that it opened.
    server.closeAllConnections?.()
    await new Promise(resolve => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close }
}

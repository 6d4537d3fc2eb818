import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReceiver, type Receiver, type WebhookEvent } from '@ackhook/core'
import { adapterSuite, adapterSuiteOptions, type SuiteCase } from '@ackhook/testing/adapter-suite'
import type { Mutant } from '../mutant.ts'
import type { SmallAdapter } from './small-adapter.ts'

type AdapterClass = new (receiver: Receiver<never, never>) => SmallAdapter
type Headers = Readonly<Record<string, string>>

const quiet = { info() {}, warn() {}, error() {} }

/** The cases of the suite on servers of this adapter, with every hook. */
export function casesOn(Adapter: AdapterClass): readonly SuiteCase[] {
  const open = (headers: Headers = {}) => openAdapter(Adapter, headers)
  const cases = adapterSuite({
    open: () => open(),
    openWithHeaders: open,
    async mount(receiver) {
      const adapter = new Adapter(receiver)
      return listen((request, response) => void adapter.respond(request, response).catch(() => {}))
    },
  })
  // A thousand connections for each mutant would take minutes, and measure the machine.
  return cases.filter(({ id }) => id !== 'adapter.connections.slow')
}

export function adapterMutant(
  name: string,
  { wrong, caughtBy }: Pick<Mutant, 'wrong' | 'caughtBy'>,
  Adapter: AdapterClass,
): Mutant {
  return { name, wrong, caughtBy, cases: () => casesOn(Adapter) }
}

async function openAdapter(Adapter: AdapterClass, headers: Headers) {
  const events: WebhookEvent[] = []
  const receiver = createReceiver({ ...adapterSuiteOptions, logger: quiet })
  receiver.on('*', event => void events.push(event))
  const adapter = new Adapter(receiver as unknown as Receiver<never, never>)
  const { url, close } = await listen(async (request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    if (request.url === '/parsed') for await (const _ of request);
    adapter.respond(request, response).catch(() => {})
  })
  const closeAll = async () => {
    await close()
    await receiver.close()
  }
  return { url, parsedUrl: `${url}parsed`, handled: () => events, close: closeAll }
}

async function listen(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close }
}

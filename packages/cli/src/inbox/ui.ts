import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { EXIT } from '../command/exit-codes.ts'
import { openServer } from '../command/open-server.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint } from '../terminal/text.ts'
import type { UiFlags } from './inbox-flags.ts'
import { createToken, withToken } from './ui-token.ts'
import { type InboxParts, withInbox } from './with-inbox.ts'

const HOST = '127.0.0.1'

/**
 * Serves the pages of an inbox until Ctrl-C, on this machine only, and only to whoever has the printed address: other
 * users of the machine can reach the port, too.
 */
export function ui(flags: UiFlags, parts: InboxParts): Promise<number> {
  const { terminal } = parts
  return withInbox(flags, parts, async inbox => {
    // Loaded on use, as other commands need no pages.
    const { dashboard } = await import('@ackhook/dashboard/node')
    // An inbox that cannot be read fails here instead of in the browser.
    await inbox.stats()
    const role = flags.readOnly ? 'read' : 'admin'
    const { bodies = false, traceUrl, emulator: emulatorUrl } = flags
    const token = createToken()
    const server = createServer(
      forLoopback(
        withToken(token, dashboard({ inbox, authorize: _request => role, bodies, traceUrl, emulatorUrl })),
      ),
    )
    announce(await openServer(server, HOST, flags.port), token, flags, terminal)
    if (!terminal.stop.aborted) await once(terminal.stop, 'abort')
    server.close()
    server.closeAllConnections()
    return EXIT.ok
  })
}

/**
 * Refuses requests for any host name but loopback's. A foreign page could otherwise resolve its own name to this address
 * and share its origin (DNS rebinding).
 */
function forLoopback(handler: RequestListener): RequestListener {
  return (request, response) => {
    if (isLoopback(request)) return handler(request, response)
    response
      .writeHead(403, { 'content-type': 'text/plain' })
      .end('Open this page at localhost or 127.0.0.1.\n')
  }
}

function isLoopback({ headers: { host = '' }, socket: { localPort } }: IncomingMessage): boolean {
  return [`localhost:${localPort}`, `${HOST}:${localPort}`].includes(host.toLowerCase())
}

function announce(address: string, token: string, flags: UiFlags, { out, colors }: Terminal): void {
  if (flags.json) {
    out(JSON.stringify({ listening: address, token }))
    return
  }
  const { bold, dim } = createPaint(colors)
  out(`The inbox is at ${bold(`${address}/?token=${token}`)}`)
  const role = flags.readOnly ? 'Read only. Whoever' : 'Whoever'
  out(dim(`${role} has this address may use it. Press Ctrl-C to stop.`))
}

import type { WebhookEvent } from '@ackhook/core'
import { printable } from '@ackhook/core/spi'
import { formatTimestamp, type SignedRequest, signedRequest } from '@ackhook/testing'
import { curlOf } from '../command/curl-of.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { SendFlags } from './send-flags.ts'

/** Prints the requests that would be sent, signed now: as text, as JSON, or as commands for `curl`. Sends nothing. */
export function showRequests(
  makeEvent: () => WebhookEvent<string, object>,
  secret: string,
  flags: SendFlags,
  terminal: Terminal,
): void {
  const times = flags.duplicate ? 2 : 1
  for (let i = 0; i < flags.repeat && !terminal.stop.aborted; i++) {
    const event = makeEvent()
    for (let j = 0; j < times; j++) {
      const request = signedRequest(event, {
        secret,
        timestamp: formatTimestamp(Date.now(), flags.timestampUnit),
        ...(flags.header !== undefined && { header: flags.header }),
        ...(flags.scheme !== undefined && { scheme: flags.scheme }),
        ...(flags.field !== undefined && { fields: flags.field }),
      })
      terminal.out(format(request, flags))
    }
  }
}

function format(request: SignedRequest, { to, curl, json }: SendFlags): string {
  const body = new TextDecoder().decode(request.body)
  if (curl) return curlOf({ url: to, headers: request.headers, body: { text: body, base64: null } })
  if (json) return JSON.stringify({ method: request.method, url: to, headers: request.headers, body })
  const { host, pathname, search } = new URL(to)
  const head = [`POST ${pathname}${search} HTTP/1.1`, `host: ${host}`]
  const headers = Object.entries(request.headers)
  return [...head, ...headers.map(([name, value]) => `${name}: ${value}`), '', printable(body), ''].join('\n')
}

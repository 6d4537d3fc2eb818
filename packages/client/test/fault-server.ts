import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'

export interface SeenRequest {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** From `performance.now()`. */
  readonly at: number
}

export interface FaultServer {
  readonly url: string
  readonly requests: SeenRequest[]
  close(): Promise<void>
}

export type Answer = (response: ServerResponse, request: SeenRequest) => unknown

/** Starts a server that gives each request the next answer, and repeats the last one. */
export async function startFaultServer(...answers: readonly Answer[]): Promise<FaultServer> {
  return startFaultServerOn(0, ...answers)
}

/** Starts such a server on `port`. */
export async function startFaultServerOn(port: number, ...answers: readonly Answer[]): Promise<FaultServer> {
  const requests: SeenRequest[] = []
  const server = createServer(async (incoming, response) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)]
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { method, url: path, headers } = incoming
    const body = Buffer.concat(chunks).toString()
    const seen = { method, path, headers, body, at: performance.now() }
    requests.push(seen)
    await answer?.(response, seen)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Sends a plain response. */
export function reply(status: number, body = '', headers: Record<string, string> = {}): Answer {
  return response => response.writeHead(status, headers).end(body)
}

/** Resets the connection before the first byte of a response. */
export const reset: Answer = response => response.socket?.resetAndDestroy()

/** Sends the head and a part of the body, then resets the connection. */
export function resetWithinBody(status: number): Answer {
  return response => {
    response.writeHead(status, { 'content-length': '1000' })
    response.write('{"id":', () => setImmediate(() => response.socket?.resetAndDestroy()))
  }
}

/** Never responds. */
export const hang: Answer = () => {}

/** Sends the head and a part of the body, but never the rest. */
export function hangWithinBody(status: number): Answer {
  return response => response.writeHead(status, { 'content-length': '1000' }).write('{"id":')
}

/** Sends one GiB as fast as it is read. `written` counts the bytes. */
export function oneGibibyte(status: number, written: { bytes: number }): Answer {
  const chunk = Buffer.alloc(65_536, 'x')
  return response => {
    const body = new Readable({
      read() {
        written.bytes += chunk.length
        this.push(written.bytes > 2 ** 30 ? null : chunk)
      },
    })
    // The pipeline ends with an error as soon as the client has read enough.
    pipeline(body, response.writeHead(status), () => {})
  }
}

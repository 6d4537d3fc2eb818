import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BodyLimits, Receiver, WebhookReply, WebhookRequest } from '@ackhook/core'
import { readRawBody } from '@ackhook/core/node'
import { type Refusal, replyTo } from '@ackhook/core/spi'

export type Body = Uint8Array | Refusal

/** A correct adapter for `node:http`, in pieces that a faulty one replaces. */
export class SmallAdapter {
  protected readonly receiver: Receiver<never, never>

  constructor(receiver: Receiver<never, never>) {
    this.receiver = receiver
  }

  async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.write(request, response, await this.reply(this.translate(request)))
  }

  protected reply(request: WebhookRequest<never>): Promise<WebhookReply> {
    return replyTo(this.receiver, request)
  }

  protected translate(request: IncomingMessage): WebhookRequest<never> {
    return {
      method: this.method(request),
      headers: this.headers(request),
      body: limits => this.read(request, limits),
      context: this.context(request) as never,
    }
  }

  protected method(request: IncomingMessage): string {
    return request.method ?? ''
  }

  protected headers(request: IncomingMessage): IncomingMessage['headers'] {
    return request.headers
  }

  protected context(request: IncomingMessage): unknown {
    return request
  }

  protected async read(request: IncomingMessage, limits: BodyLimits): Promise<Body> {
    return readRawBody(request, limits)
  }

  protected async write(
    request: IncomingMessage,
    response: ServerResponse,
    { status, headers, body }: WebhookReply,
  ): Promise<void> {
    if (response.destroyed) return
    const isOver = new Promise<void>(resolve => response.once('finish', resolve).once('close', resolve))
    if (request.complete) {
      response.writeHead(status, headers).end(request.method === 'HEAD' ? '' : body)
    } else {
      response.writeHead(status, { ...headers, connection: 'close' })
      response.write(body)
      request.on('error', () => {}).resume()
      setTimeout(() => response.end(), 500)
    }
    await isOver
  }
}

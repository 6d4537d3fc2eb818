import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import {
  type BodyLimits,
  createReceiver,
  type Receiver,
  type ReceiverOptions,
  type WebhookReply,
  type WebhookRequest,
} from '@ackhook/core'
import { readRawBody } from '@ackhook/core/node'
import { type Refusal, replyTo } from '@ackhook/core/spi'

export type Options = ReceiverOptions<Record<never, never>, unknown>
export type WaitUntil = (work: Promise<unknown>) => void
export type Body = Uint8Array | Refusal

/** A correct adapter for `node:http`, in parts that faulty adapters replace. */
export class SmallAdapter {
  protected readonly receiver: Receiver<never, never>
  readonly #waitUntil: WaitUntil | undefined

  constructor(receiver: Receiver<never, never>, waitUntil?: WaitUntil) {
    this.receiver = receiver
    this.#waitUntil = waitUntil
  }

  /** Returns the receiver of an adapter created with options. */
  static receiverOf(options: Options): Receiver<never, unknown> {
    return createReceiver(options) as unknown as Receiver<never, unknown>
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
      waitUntil: this.waitUntil(),
    }
  }

  protected method(request: IncomingMessage): string {
    return request.method ?? ''
  }

  protected headers(request: IncomingMessage): IncomingMessage['headers'] {
    return request.headers
  }

  protected waitUntil(): WaitUntil | undefined {
    return this.#waitUntil
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
    } else if (request.httpVersionMajor === 2) {
      response.writeHead(status, headers).end(body)
      this.endUpload((response as unknown as { stream: ServerHttp2Stream }).stream)
      request.resume()
    } else {
      response.writeHead(status, { ...headers, connection: 'close' })
      response.write(body)
      request.on('error', () => {}).resume()
      setTimeout(() => response.end(), 500)
    }
    await isOver
  }

  /** Refuses over HTTP/2, where the connection stays open. */
  protected endUpload(stream: ServerHttp2Stream): void {
    stream.close(0)
  }
}

import type { ChangeFeed, Notice } from '../feed/change-feed.ts'

/** Longest queue. A client further behind gets a `gap` instead of the missed notices. */
const MAX_QUEUED_BYTES = 1_048_576
const HEARTBEAT_MS = 15_000

/** Streams changes as server-sent events, starting after `lastId`. */
export function streamReply(feed: ChangeFeed, lastId: string | undefined): Response {
  const client = new StreamClient(feed, lastId)
  const body = new ReadableStream<Uint8Array>(
    {
      start: controller => client.start(controller),
      pull: () => client.catchUp(),
      cancel: () => client.stop(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_QUEUED_BYTES }),
  )
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
  })
}

class StreamClient {
  readonly #feed: ChangeFeed
  readonly #lastId: string | undefined
  readonly #encoder = new TextEncoder()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #unwatch: () => void = () => {}
  #heartbeat: NodeJS.Timeout | undefined
  #isBehind = false

  constructor(feed: ChangeFeed, lastId: string | undefined) {
    this.#feed = feed
    this.#lastId = lastId
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller
    const missed = this.#lastId === undefined ? [] : this.#feed.since(this.#lastId)
    this.#unwatch = this.#feed.watch(notice => this.#send(notice))
    this.#send({ id: this.#feed.lastId, event: 'open', data: '{}' })
    if (missed === 'gap') this.#sendGap()
    else for (const notice of missed) this.#send(notice)
    this.#heartbeat = setInterval(() => this.#write(':\n\n'), HEARTBEAT_MS).unref()
  }

  /** Called when the queue has room again. */
  catchUp(): void {
    if (!this.#isBehind) return
    this.#isBehind = false
    this.#sendGap()
  }

  stop(): void {
    clearInterval(this.#heartbeat)
    this.#unwatch()
  }

  #sendGap(): void {
    this.#send({ id: this.#feed.lastId, event: 'gap', data: '{}' })
  }

  #send({ id, event, data }: Notice): void {
    if (!this.#isBehind) this.#isBehind = (this.#controller?.desiredSize ?? 0) <= 0
    if (!this.#isBehind) this.#write(`id: ${id}\nevent: ${event}\ndata: ${data}\n\n`)
  }

  #write(text: string): void {
    try {
      if ((this.#controller?.desiredSize ?? 0) > 0) this.#controller?.enqueue(this.#encoder.encode(text))
    } catch {
      // The client has disconnected.
      this.stop()
    }
  }
}

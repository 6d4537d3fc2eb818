import { authorization } from '../kit/api.ts'
import { addressOf } from './api.ts'

/** An event of the stream; `open` when it opens and `lost` when it ends. */
export interface StreamEvent {
  readonly event: string
  /** Position in the emulator's changes. */
  readonly id: string
  /** JSON. */
  readonly data: string
}

/** Message between tabs: an event with the position before it, or a new tab's question whether the stream is open. */
type Message = (StreamEvent & { readonly before: string | undefined }) | 'is it open?'

const RETRY_MS = 1000
/** Longest silence: the emulator writes something every 15 seconds. */
const SILENCE_MS = 45_000

/**
 * Shares one stream between all tabs of an origin, because a browser allows an origin six connections and an endless
 * request keeps one of them. A visible tab that holds a lock reads the stream and passes its events on. Hidden tabs let
 * go of it.
 */
export class OneStream {
  readonly #take: (event: StreamEvent) => void
  /** Name of the lock and of the channel. */
  readonly #name = new URL(addressOf('stream'), document.baseURI).href
  readonly #channel = new BroadcastChannel(this.#name)
  /** Position of the last event that this tab knows. */
  #lastId: string | undefined
  /** `true` while this tab's own stream is open. */
  #isOpen = false
  #isStarted = false

  constructor(take: (event: StreamEvent) => void) {
    this.#take = take
  }

  /** Begins to listen, unless it has. */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#hear(data)
    this.#channel.postMessage('is it open?' satisfies Message)
    void this.#run()
  }

  async #run(): Promise<void> {
    for (;;) {
      await whileHidden()
      const hidden = new AbortController()
      const onChange = () => document.visibilityState === 'hidden' && hidden.abort()
      document.addEventListener('visibilitychange', onChange)
      // After each failure, another tab gets its turn: this one may lack the token.
      await withLock(this.#name, hidden.signal, () => this.#lead(hidden.signal)).catch(() => {})
      document.removeEventListener('visibilitychange', onChange)
      if (!hidden.signal.aborted) await new Promise(resolve => setTimeout(resolve, RETRY_MS))
    }
  }

  /** Reads the stream until it ends, with `fetch` because an `EventSource` cannot send a token. */
  async #lead(hidden: AbortSignal): Promise<void> {
    const ended = new AbortController()
    const end = (): void => ended.abort()
    hidden.addEventListener('abort', end)
    let timer = setTimeout(end, SILENCE_MS)
    const heard = (): void => {
      clearTimeout(timer)
      timer = setTimeout(end, SILENCE_MS)
    }
    try {
      const resume = this.#lastId === undefined ? {} : { 'last-event-id': this.#lastId }
      const headers = { ...authorization(), ...resume }
      const reply = await fetch(addressOf('stream'), { headers, signal: ended.signal })
      if (reply.ok && reply.body !== null) await this.#read(reply.body, heard)
    } finally {
      clearTimeout(timer)
      hidden.removeEventListener('abort', end)
      this.#isOpen = false
      this.#tell({ event: 'lost', id: this.#lastId ?? '', data: '{}' })
    }
  }

  async #read(body: ReadableStream<Uint8Array>, heard: () => void): Promise<void> {
    const reader = body
      .pipeThrough(new TextDecoderStream() as never)
      .getReader() as ReadableStreamDefaultReader<string>
    let text = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      heard()
      const blocks = (text + value).split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = parse(block)
        if (event?.event === 'open') this.#isOpen = true
        if (event !== undefined) this.#tell(event)
      }
    }
  }

  /** Passes an event on to the other tabs and to this one. */
  #tell(event: StreamEvent): void {
    this.#channel.postMessage({ ...event, before: this.#lastId } satisfies Message)
    this.#accept(event)
  }

  #hear(message: Message): void {
    if (message === 'is it open?') {
      const event = { event: 'open', id: this.#lastId ?? '', data: '{}', before: this.#lastId }
      if (this.#isOpen) this.#channel.postMessage(event satisfies Message)
      return
    }
    const { before, ...event } = message
    const isChange = event.event !== 'open' && event.event !== 'lost'
    // This tab has missed a change, or has seen this one.
    const isGap = isChange && this.#lastId !== undefined && before !== this.#lastId
    this.#accept(isGap ? { ...event, event: 'gap', data: '{}' } : event)
  }

  #accept(event: StreamEvent): void {
    // The stream opens at its newest position, and then repeats what this tab has missed.
    if (event.event === 'open') this.#lastId ??= event.id
    else if (event.event !== 'lost') this.#lastId = event.id
    this.#take(event)
  }
}

/** Runs `work` while this tab holds the lock. Without locks, as on plain HTTP to another machine, each tab runs it. */
async function withLock(name: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  const locks = (navigator as { readonly locks?: LockManager }).locks
  await (locks === undefined ? work() : locks.request(name, { signal }, work))
}

/** Resolves when this tab is visible. */
async function whileHidden(): Promise<void> {
  while (document.visibilityState === 'hidden')
    await new Promise(resolve => document.addEventListener('visibilitychange', resolve, { once: true }))
}

function parse(block: string): StreamEvent | undefined {
  const fields = new Map(
    block.split('\n').flatMap(line => {
      const at = line.indexOf(': ')
      return at > 0 ? [[line.slice(0, at), line.slice(at + 2)] as const] : []
    }),
  )
  const event = fields.get('event')
  return event === undefined
    ? undefined
    : { event, id: fields.get('id') ?? '', data: fields.get('data') ?? '{}' }
}

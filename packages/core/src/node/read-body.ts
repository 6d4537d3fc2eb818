// No import of `node:` that is left at run time: the Hono adapter brings this file to Workers as well.
import type { IncomingMessage } from 'node:http'
import { platform } from '#platform'
import { Refusal } from '../errors/refusal.ts'
import type { BodyLimits } from '../http/request.ts'
import { createByteCollector } from '../lib/byte-collector.ts'
import type { Timeout, Timeouts } from '../platform/platform.ts'

type Done = (body: Uint8Array | Refusal) => void

const READING: unique symbol = Symbol('ackhook.reading')

/** Where the listeners find what they work on: on the request, while its body is read. */
interface Holder {
  [READING]?: Reading | undefined
}

/**
 * Hands the bytes of a request's stream to `done`, later. Counts what is read, whatever `Content-Length` says.
 * Listeners and not `for await`, which costs 7 to 20 %, and a call and not a promise at the end of them: the reply is
 * written in the turn in which the last byte came.
 *
 * The listeners are the same for all requests, and stay, since taking five off costs more than putting them on. With
 * functions of each request's own, the list of them would keep everything that the request led to: while many requests
 * wait for something, V8 learns to allocate those lists where only a full collection frees them.
 */
export function readBody(request: IncomingMessage & Holder, limits: BodyLimits, done: Done): void {
  const holder: Holder = isEmitter(request) ? request : {}
  holder[READING] = new Reading(request, holder, limits, done)
  // Asks for the body now and not in the next turn. Otherwise Node holds what came with the head of the request back
  // until then, and after the reply it takes the request for one that nobody read: 3 µs of 30.
  request.read(0)
  listen(request, holder)
  // It may have been paused before, to wait for something asynchronous.
  if (request.listenerCount('readable') === 0) request.resume()
}

/**
 * Whether listeners are called on this very object, and find there what is put there: not where somebody passes on a
 * wrapper of the request. Nor where it is read a second time: each reading gets the bytes by listeners of its own.
 */
function isEmitter(request: IncomingMessage & Holder): boolean {
  if (READING in request || !Object.hasOwn(request, '_readableState')) return false
  request[READING] = undefined
  return Object.hasOwn(request, READING)
}

function listen(request: IncomingMessage, holder: Holder): void {
  const on = <Listener extends (this: Holder, chunk: Uint8Array) => void>(listener: Listener) =>
    holder === request ? listener : listener.bind(holder)
  request.on('data', on(onData)).on('pause', on(onPause)).on('end', on(onEnd))
  // Also after the end: an upload that breaks off must not become an uncaught 'error' event.
  request.on('error', on(onAbort)).on('close', on(onAbort))
  if (request.listenerCount('readable') > 0) request.on('readable', on(onReadable))
}

function onData(this: Holder, chunk: Uint8Array): void {
  this[READING]?.add(chunk)
}

function onPause(this: Holder): void {
  this[READING]?.goOn()
}

function onReadable(this: Holder): void {
  this[READING]?.drain()
}

function onEnd(this: Holder): void {
  this[READING]?.end()
}

function onAbort(this: Holder): void {
  this[READING]?.abort()
}

/** By how long they take to ring. */
const timeoutsByLength = new Map<number, Timeouts>()

function timeoutsFor({ timeoutMs }: BodyLimits): Timeouts {
  const known = timeoutsByLength.get(timeoutMs)
  if (known !== undefined) return known
  const timeouts = platform.createTimeouts(timeoutMs)
  timeoutsByLength.set(timeoutMs, timeouts)
  return timeouts
}

/** One body, until it is there or given up: then its holder lets go of it. */
class Reading {
  readonly #request: IncomingMessage
  readonly #holder: Holder
  readonly #limits: BodyLimits
  readonly #collector = createByteCollector()
  readonly #handOver: Done
  readonly #timeout: Timeout

  constructor(request: IncomingMessage, holder: Holder, limits: BodyLimits, done: Done) {
    this.#request = request
    this.#holder = holder
    this.#limits = limits
    this.#handOver = platform.keepContext(done)
    this.#timeout = timeoutsFor(limits).set(() => {
      const detail = `${this.#collector.length} bytes in ${limits.timeoutMs} ms`
      this.#settle(new Refusal('body_timeout', { detail }))
    })
  }

  add(chunk: Uint8Array): void {
    if (this.#collector.length + chunk.length <= this.#limits.maxBytes) {
      this.#collector.add(chunk)
      return
    }
    // Let go of, then paused, before the reply is written: that reads on for a while, so that the sender comes to see it.
    this.#holder[READING] = undefined
    this.#request.pause()
    this.#settle(new Refusal('body_too_large', { detail: `over ${this.#limits.maxBytes} bytes` }))
  }

  /**
   * Something may have made a Fetch stream of the request and never read it: that one pauses this one when its own
   * buffer is full, and the rest of the body would never come.
   */
  goOn(): void {
    this.#request.resume()
  }

  /** A stream that somebody watches for 'readable' does not flow, and gives its bytes only to who asks for them. */
  drain(): void {
    while (this.#holder[READING] === this && this.#request.read() !== null);
  }

  end(): void {
    this.#settle(this.#collector.take())
  }

  abort(): void {
    const detail = `the connection closed after ${this.#collector.length} bytes`
    this.#settle(new Refusal('body_aborted', { detail }))
  }

  #settle(result: Uint8Array | Refusal): void {
    this.#holder[READING] = undefined
    this.#timeout.cancel()
    this.#handOver(result)
  }
}

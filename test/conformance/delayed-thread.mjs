// @ts-check
// Delays what the thread of this process's SQLite inbox replies, by the whole round trip: what was asked for is done, and
// this process does not know it yet. The test says how long one way takes, over a socket: {"delayMs": 100}, or "silent" to
// hold everything until it says something else.

import { syncBuiltinESMExports } from 'node:module'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import workers from 'node:worker_threads'

/** Milliseconds; infinite while no reply passes. */
let delayMs = 0
/** @type {Set<() => void>} */
const threads = new Set()

workers.Worker = class extends workers.Worker {
  /** @type {(() => void)[]} */
  #asked = []
  /** Replies in order, even while the delay changes. @type {{ at: number, pass: () => void }[]} */
  #replies = []

  #run = () => {
    if (delayMs === Number.POSITIVE_INFINITY) return
    for (const ask of this.#asked.splice(0)) ask()
    while (this.#replies[0] !== undefined && this.#dueInMs() <= 0) this.#replies.shift()?.pass()
    if (this.#replies.length > 0) setTimeout(this.#run, this.#dueInMs())
  }

  #dueInMs() {
    return (this.#replies[0]?.at ?? 0) + 2 * delayMs - performance.now()
  }

  /** @override @param {any} message @param {any} [transfer] */
  postMessage(message, transfer) {
    threads.add(this.#run)
    this.#asked.push(() => super.postMessage(message, transfer))
    this.#run()
  }

  /** @override @param {any} name @param {any[]} rest @returns {any} */
  emit(name, ...rest) {
    if (name !== 'message') return super.emit(name, ...rest)
    this.#replies.push({ at: performance.now(), pass: () => super.emit(name, ...rest) })
    this.#run()
    return true
  }
}
syncBuiltinESMExports()

/** @param {number} port */
export function delayedBy(port) {
  const socket = connect(port, '127.0.0.1')
  socket.unref()
  createInterface({ input: socket }).on('line', text => {
    const state = JSON.parse(text)
    delayMs = state === 'silent' ? Number.POSITIVE_INFINITY : state.delayMs
    for (const run of threads) run()
    socket.write('done\n')
  })
}

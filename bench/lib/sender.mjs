import { once } from 'node:events'
import { connect } from 'node:net'
import { DIALECTS } from './dialects.mjs'
import { writeId } from './event-body.mjs'
import { sharedNow } from './handler.mjs'

let nextId = Date.now() * 1000

/**
 * Sends signed events, each with its own id, over connections that stay open. It uses a few µs of its own processor per
 * request, far less than any receiver: if receivers had to wait for the sender, it would measure itself.
 */
export class Sender {
  #connections
  #make
  #perSecond = 1000

  constructor(connections, make) {
    this.#connections = connections
    this.#make = make
  }

  /** @param {{ port: number, body: ReturnType<import('./event-body.mjs').eventBody>, dialect?: keyof typeof DIALECTS, connections?: number }} options */
  static async open({ port, body, dialect = 'service', connections = 32 }) {
    const open = Array.from({ length: connections }, () => new Connection(port))
    await Promise.all(open.map(({ socket }) => once(socket, 'connect')))
    return new Sender(open, createRequests(port, body, dialect))
  }

  /** Signs the requests for the next load, so that signing does not slow it down. */
  prepare(seconds) {
    return Array.from({ length: Math.ceil(this.#perSecond * seconds * 1.2) }, this.#make)
  }

  /** Keeps one request in flight on each connection for `seconds`, and waits for the last replies. */
  async load(seconds, requests = this.prepare(seconds)) {
    const latencies = []
    const start = performance.now()
    const end = start + seconds * 1000
    let sent = 0
    await Promise.all(
      this.#connections.map(async connection => {
        for (let began = performance.now(); began < end; ) {
          await connection.send(requests[sent++] ?? this.#make())
          const now = performance.now()
          latencies.push(now - began)
          began = now
        }
      }),
    )
    this.#perSecond = latencies.length / ((performance.now() - start) / 1000)
    return { answered: latencies.length, perSecond: this.#perSecond, latencies }
  }

  /** Sends `count` requests as fast as replies arrive. */
  async send(count) {
    let sent = 0
    await Promise.all(
      this.#connections.map(async connection => {
        while (sent++ < count) await connection.send(this.#make())
      }),
    )
  }

  /**
   * Sends `count` requests at a fixed rate, however slowly the replies arrive. `answered` gets the number of each and the
   * time from the moment at which it should have been sent, as the platform would wait for it. Resolves, after the last
   * reply, to the first of these moments. The timer of the load adds up to a millisecond.
   *
   * @param {(index: number, ms: number) => void} [answered]
   */
  arrive(perSecond, count, answered = () => {}) {
    const idle = [...this.#connections]
    const begin = sharedNow()
    const momentOf = index => begin + (index * 1000) / perSecond
    let due = 0
    let sent = 0
    let done = 0
    return new Promise((resolve, reject) => {
      const serve = async connection => {
        while (sent < due) {
          const index = sent++
          await connection.send(this.#make())
          answered(index, sharedNow() - momentOf(index))
          if (++done === count) resolve(begin)
        }
        idle.push(connection)
      }
      const tick = () => {
        due = Math.min(count, Math.floor(((sharedNow() - begin) * perSecond) / 1000) + 1)
        for (let busy = sent; busy < due && idle.length > 0; busy++) serve(idle.pop()).catch(reject)
        if (due < count) setTimeout(tick, 1)
      }
      tick()
    })
  }

  /** Returns the number in the id of the next event. Each further event gets the next one. */
  static nextNumber() {
    return nextId
  }

  close() {
    for (const { socket } of this.#connections) socket.destroy()
  }
}

/** Sends one request at a time. A reply other than 2xx ends the measurement. */
class Connection {
  #answer
  #text = ''

  constructor(port) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.socket.on('data', chunk => this.#read(chunk))
    this.socket.on('error', error => this.#answer?.reject(error))
    this.socket.on('close', () => this.#answer?.reject(new Error('the server closed a connection')))
  }

  send(request) {
    return new Promise((resolve, reject) => {
      this.#answer = { resolve, reject }
      this.socket.write(request)
    })
  }

  #read(chunk) {
    this.#text += chunk.latin1Slice()
    const status = statusOf(this.#text)
    if (status === undefined) return
    const text = this.#text
    this.#text = ''
    if (status < 300) this.#answer.resolve()
    else this.#answer.reject(new Error(`the load got a reply other than 2xx: ${text}`))
  }
}

/** Returns the status of a complete response, or nothing while a part is missing. */
function statusOf(text) {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const status = Number(text.slice(9, 12))
  if (status === 204) return status
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)
  const isWhole = length === null ? text.endsWith('0\r\n\r\n') : text.length >= end + 4 + Number(length[1])
  return isWhole ? status : undefined
}

/** Creates raw requests from one template: only the id and the signature headers change. */
function createRequests(port, { bytes, idAt }, dialect) {
  const sign = DIALECTS[dialect]
  const body = Buffer.from(bytes)
  return () => {
    const number = nextId++
    writeId(body, idAt, number)
    let head = `POST / HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n`
    const headers = sign(body, Math.floor(Date.now() / 1000), `msg_${number}`)
    for (const name in headers) head += `${name}: ${headers[name]}\r\n`
    const request = Buffer.allocUnsafe(head.length + 2 + body.length)
    const end = request.latin1Write(`${head}\r\n`)
    request.set(body, end)
    return request
  }
}

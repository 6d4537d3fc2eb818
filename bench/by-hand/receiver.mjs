import { createVerifyByHand } from './verify.mjs'

const REMEMBER_MS = 86_400_000
const MAX_IDS = 1_000_000
const MAX_BODY_BYTES = 1_048_576

/**
 * An expert's receiver without a library: verifies, parses once, remembers the id, acknowledges, then works. It has no
 * limit on events in memory, no retries and no drain.
 */
export function createReceiverByHand(secret, handle) {
  const verify = createVerifyByHand(secret)
  const seen = new SeenIds(MAX_IDS)

  /** Returns the status of the reply. The work starts after the reply. */
  return (header, body) => {
    if (header === undefined || !verify(header, body)) return 401
    let event
    try {
      event = JSON.parse(body.toString())
    } catch {
      return 400
    }
    if (typeof event?.id !== 'string') return 400
    if (!seen.add(event.id)) return 200
    setImmediate(run, handle, event)
    return 202
  }
}

function run(handle, event) {
  handle(event).catch(error => process.emitWarning(error))
}

/**
 * Remembers at least the last `max / 2` ids, for at least a day unless there are more. Two sets, each dropped as a whole,
 * cost less than a timestamp for each id, and ids need not be evicted one by one.
 */
class SeenIds {
  #young = new Set()
  #old = new Set()
  #startedAt = Date.now()
  #max

  constructor(max) {
    this.#max = max
  }

  /** Returns false if the id was seen before. */
  add(id) {
    if (this.#young.has(id) || this.#old.has(id)) return false
    if (this.#young.size >= this.#max / 2 || Date.now() - this.#startedAt > REMEMBER_MS) {
      this.#old = this.#young
      this.#young = new Set()
      this.#startedAt = Date.now()
    }
    this.#young.add(id)
    return true
  }
}

/** Body of Ackhook's reply, so that both are measured with the same one. Other statuses have no body. */
export const ACCEPTED = '{"code":"accepted","message":"The event is accepted and will be handled."}'
export const ACCEPTED_HEADERS = {
  'content-type': 'application/json',
  'content-length': String(ACCEPTED.length),
}

/** Writes a status's reply to Node's own response. */
export function answer(response, status) {
  if (status === 202) response.writeHead(202, ACCEPTED_HEADERS).end(ACCEPTED)
  else response.writeHead(status).end()
}

/** Reads the raw body with listeners and a limit: 7 to 20 % faster than `for await`. */
export function readBody(request, done) {
  const chunks = []
  let bytes = 0
  request.on('data', chunk => {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) request.destroy()
    else chunks.push(chunk)
  })
  request.on('end', () => done(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
  request.on('error', () => {})
}

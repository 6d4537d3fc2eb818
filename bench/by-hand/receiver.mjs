import { createVerifyByHand } from './verify.mjs'

const REMEMBER_MS = 86_400_000
const MAX_BODY_BYTES = 1_048_576

/**
 * What an expert writes without a library: verify, parse once, remember the id, acknowledge, then work. It has no
 * limit on what it holds at one time, no retries, no drain. Its ids live in one Map for a day: all live equally long, so
 * the oldest come first, and once a minute those whose time is over are taken from its front.
 */
export function createReceiverByHand(secret, handle) {
  const verify = createVerifyByHand(secret)
  const seen = new Map()
  setInterval(() => {
    const now = Date.now()
    for (const [id, until] of seen) {
      if (until > now) break
      seen.delete(id)
    }
  }, 60_000).unref()

  /** The status to answer. The work starts after the reply. */
  return (header, body) => {
    if (header === undefined || !verify(header, body)) return 401
    let event
    try {
      event = JSON.parse(body.toString())
    } catch {
      return 400
    }
    if (typeof event?.id !== 'string') return 400
    if (seen.has(event.id)) return 200
    seen.set(event.id, Date.now() + REMEMBER_MS)
    setImmediate(run, handle, event)
    return 204
  }
}

function run(handle, event) {
  handle(event).catch(error => process.emitWarning(error))
}

/** The raw body by listeners, with a limit: 7 to 20 % faster than `for await`. */
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

import { DIALECTS } from './dialects.mjs'
import { eventBody, writeId } from './event-body.mjs'

let number = Date.now() * 1000

/** Returns newly signed requests of 300 bytes, each with its own id. */
export function signedEvents(count) {
  const { bytes, idAt } = eventBody(300)
  const t = Math.floor(Date.now() / 1000)
  return Array.from({ length: count }, () => {
    const body = Buffer.from(bytes)
    writeId(body, idAt, number++)
    return { method: 'POST', headers: DIALECTS.service(body, t), body, context: undefined }
  })
}

/** Passes requests to a receiver, 50 in each turn of the event loop. Throws if any is refused. */
export async function deliver(receiver, requests) {
  let refused = 0
  for (let from = 0; from < requests.length; from += 50) {
    for (const request of requests.slice(from, from + 50)) {
      receiver.handle(request).then(reply => {
        if (reply.status !== 202) refused++
      })
    }
    await new Promise(setImmediate)
  }
  if (refused > 0) throw new Error(`${refused} deliveries were refused`)
}

import { DIALECTS } from './dialects.mjs'
import { eventBody, writeId } from './event-body.mjs'

let number = Date.now() * 1000

/** Returns newly signed requests, as a receiver's `handle` takes them, each with its own id. */
export function signedEvents(count, size) {
  const { bytes, idAt } = eventBody(size)
  const t = Math.floor(Date.now() / 1000)
  return Array.from({ length: count }, () => {
    const body = Buffer.from(bytes)
    writeId(body, idAt, number++)
    return { method: 'POST', headers: DIALECTS.service(body, t), body, context: undefined }
  })
}

import { AsyncResource } from 'node:async_hooks'
import { hash } from 'node:crypto'
import { hostname } from 'node:os'
import type { AsyncContext, Platform } from '../platform.ts'
import { createMac } from './hmac.ts'
import { processWarnings } from './process-warnings.ts'
import { createTimeouts } from './timeouts.ts'

/** The real one, even when a test fakes timers later. */
const realSetImmediate = setImmediate
const KEY_BYTES = 16
const keyBytes = Buffer.alloc(KEY_BYTES)

/** The platform where `node:` modules exist: Node, and Bun and Deno through their compatibility layers. */
export const platform: Platform = {
  createMac,
  createTimeouts,
  hashText(text) {
    // A digest as a Buffer costs as much again as the hash. perf: note 14.
    const digest = hash('sha256', text, 'binary')
    for (let i = 0; i < KEY_BYTES; i++) keyBytes[i] = digest.charCodeAt(i)
    return keyBytes.toString('base64url')
  },
  decodeText(bytes) {
    const buffer =
      bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const hasBom = buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf
    return hasBom ? buffer.toString('utf8', 3) : buffer.toString()
  },
  captureContext: () => new KeptContext('Ackhook'),
  processName: () => `${hostname()}:${process.pid}`,
  afterReplies: work => void realSetImmediate(work),
  defaultLogger: processWarnings,
}

/** One object. `AsyncLocalStorage.snapshot` copies lists of arguments at each call. perf: note 37. */
class KeptContext extends AsyncResource implements AsyncContext {
  run<T, Result>(work: (value: T) => Result, value: T): Result {
    return this.runInAsyncScope(work, undefined, value)
  }
}

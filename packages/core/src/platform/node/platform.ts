import { AsyncLocalStorage } from 'node:async_hooks'
import { hash } from 'node:crypto'
import { hostname } from 'node:os'
import type { Platform } from '../platform.ts'
import { hmac } from './hmac.ts'
import { processWarnings } from './process-warnings.ts'
import { createTimeouts } from './timeouts.ts'

/** The real one, even when a test fakes timers later. */
const realSetImmediate = setImmediate
const KEY_BYTES = 16

/** The platform where `node:` modules exist: Node, and Bun and Deno through their compatibility layers. */
export const platform: Platform = {
  hmac,
  createTimeouts,
  hashText: text => hash('sha256', text, 'buffer').toString('base64url', 0, KEY_BYTES),
  checksum: bytes => hash('sha256', bytes, 'buffer').readInt32BE(),
  decodeText(bytes) {
    const buffer =
      bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const hasBom = buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf
    return hasBom ? buffer.toString('utf8', 3) : buffer.toString()
  },
  captureContext: () => AsyncLocalStorage.snapshot(),
  capturesContext: true,
  processName: () => `${hostname()}:${process.pid}`,
  afterReplies: work => void realSetImmediate(work),
  defaultLogger: processWarnings,
}

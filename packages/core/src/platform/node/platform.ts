import { AsyncResource } from 'node:async_hooks'
import crypto from 'node:crypto'
import { hostname } from 'node:os'
// Imported, because a test may have faked the global one.
import { setImmediate } from 'node:timers'
import { isOnWorkers, type Platform, WORKERS } from '../platform.ts'
import { endingHost } from './ending-host.ts'
import { freezingHost } from './freezing-host.ts'
import { hmac } from './hmac.ts'
import { isDevelopment, isTest } from './is-development.ts'
import { onExit } from './on-exit.ts'
import { processWarnings } from './process-warnings.ts'
import { createTimeouts } from './timeouts.ts'

// A named import of `hash` would fail before this line, with a message about an export.
if (typeof crypto.hash !== 'function')
  throw new Error(`Ackhook needs Node 20.19 or later; this is Node ${process.version}.`)

// Timers and queued work of these files would end with the request that began them.
if (isOnWorkers())
  throw new Error(
    `This bundle has Ackhook's parts for Node, which lose events on ${WORKERS}. Bundle @ackhook/core with the condition 'workerd' (in Vite: ssr.resolve.conditions), or keep it external (ssr.external) until Wrangler bundles it.`,
  )

const HASH_BYTES = 32
const KEY_BYTES = 16

/** Shared by all hashes, because a new Buffer takes as long as the hash itself: read it before the next one. */
const digest = Buffer.alloc(HASH_BYTES)

function sha256(data: string | Uint8Array): Buffer {
  digest.write(crypto.hash('sha256', data, 'binary'), 'latin1')
  return digest
}

/** Platform with `node:` modules: Node, and Bun and Deno through their compatibility layers. */
export const platform: Platform = {
  hmac,
  createTimeouts,
  hashText: text => sha256(text).toString('base64url', 0, KEY_BYTES),
  checksum: bytes => sha256(bytes).readInt32BE(),
  decodeText(bytes) {
    const buffer = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const hasBom = buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf
    return buffer.toString('utf8', hasBom ? 3 : 0)
  },
  captureContext() {
    // Not `AsyncLocalStorage.snapshot()`, whose function makes three lists of its arguments in each call.
    const resource = new AsyncResource('Ackhook')
    return (work, ...args) => resource.runInAsyncScope(work, undefined, ...args)
  },
  onExit,
  freezingHost,
  endingHost,
  // Bun and Deno have these variables too, but not Node's watcher, nor its terminal everywhere.
  isTrial: () =>
    'bun' in process.versions || 'deno' in process.versions ? undefined : isDevelopment() || isTest(),
  processName: () => `${hostname()}:${process.pid}`,
  afterReplies: work => void setImmediate(work),
  defaultLogger: processWarnings,
}

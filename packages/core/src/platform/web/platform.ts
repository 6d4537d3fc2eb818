import { decodeText, encodeText } from '../../lib/utf8.ts'
import { consoleLogger } from '../console-logger.ts'
import { isOnWorkers, type Platform, WORKERS } from '../platform.ts'
import { hmac } from './hmac.ts'
import { createTimeouts } from './timeouts.ts'

const KEY_BYTES = 16

/** Platform for Workers and other runtimes that have only web APIs. */
export const platform: Platform = {
  hmac,
  createTimeouts,
  async hashText(text) {
    const digest = await crypto.subtle.digest('SHA-256', encodeText(text))
    return base64url(new Uint8Array(digest, 0, KEY_BYTES))
  },
  async checksum(bytes) {
    const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)
    return new DataView(digest).getInt32(0)
  },
  decodeText,
  captureContext:
    () =>
    (work, ...args) =>
      work(...args),
  onExit: () => () => {},
  freezingHost: () => (isOnWorkers() ? WORKERS : 'EdgeRuntime' in globalThis ? 'Vercel' : undefined),
  endingHost: () => undefined,
  isTrial: () => undefined,
  processName: () => '',
  // A microtask runs even if its request ends; a timer may not. Called as a plain function: Workers refuse any other
  // `this`.
  afterReplies: work => queueMicrotask(work),
  defaultLogger: consoleLogger,
}

function base64url(bytes: Uint8Array): string {
  const base64 = btoa(String.fromCharCode(...bytes))
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

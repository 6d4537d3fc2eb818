import type { Alarms } from './alarms.ts'
import type { Logger } from './logger.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Pump, PumpParts } from './memory/pump.ts'

/** HMAC-SHA256 of `<timestamp>.<body>` under one secret, as 32 characters of one byte each. */
export type Mac = (timestamp: string, body: Uint8Array) => MaybePromise<string>

/**
 * What the core asks of the place it runs in. The package's `imports` conditions choose the implementation:
 * `node/` where `node:` modules exist, `web/` everywhere else. Both must give the same values for the same
 * arguments, because processes on different runtimes may share one store.
 */
export interface Platform {
  /** Prepares a secret once, so that each delivery costs only the hashing of its bytes. */
  createMac(secret: string): Mac
  /** The first 128 bits of the SHA-256 of a text's UTF-8 bytes, as 22 characters of base64url. */
  hashText(text: string): MaybePromise<string>
  /** CRC-32 of bytes, as a signed 32-bit integer. */
  checksum(bytes: Uint8Array): number
  /** Text of UTF-8 bytes, without a byte order mark. Invalid sequences become U+FFFD. */
  decodeText(bytes: Uint8Array): string
  /** Alarms that ring after so many milliseconds. */
  createAlarms(ms: number): Alarms
  /**
   * The same function, called later in the async context of now: what a stream calls back has that of the stream, and
   * the AsyncLocalStorage of the request would be empty. Where the platform has no such thing, just the function.
   */
  keepContext<T>(next: (value: T) => void): (value: T) => void
  /** What starts the attempts of a memory inbox: only some platforms let one request work for another. */
  createPump(parts: PumpParts): Pump
  /** Where warnings and errors go when the user gave no logger. */
  readonly defaultLogger: Logger
}

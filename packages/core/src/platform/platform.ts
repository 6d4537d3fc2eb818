import type { MaybePromise } from '../lib/maybe-promise.ts'
import type { Logger } from '../observe/logger.ts'

/** HMAC-SHA256 of `<timestamp>.<body>` under one secret, as 64 hexadecimal digits in lower case. */
export type Mac = (timestamp: string, body: Uint8Array) => MaybePromise<string>

/**
 * Interface to the runtime. The package's `imports` conditions choose the implementation: `node/` where `node:`
 * modules exist, `web/` everywhere else. Both give the same values for the same arguments, because processes on
 * different runtimes may share one store.
 */
export interface Platform {
  /** Prepares a secret once, so that each delivery costs only the hashing of its bytes. */
  hmac(secret: string): Mac
  /** Returns the first 128 bits of the SHA-256 of a text's UTF-8 bytes, as 22 characters of base64url. */
  hashText(text: string): MaybePromise<string>
  /** Returns the first 32 bits of the bytes' SHA-256, as a signed integer. */
  checksum(bytes: Uint8Array): MaybePromise<number>
  /** Decodes UTF-8 bytes, without a byte order mark. Invalid sequences become U+FFFD. */
  decodeText(bytes: Uint8Array): string
  /** Creates timeouts of one length. */
  createTimeouts(ms: number): Timeouts
  /**
   * Captures the current async context, like `AsyncLocalStorage.snapshot`. On Workers an attempt never leaves its
   * request, so there is nothing to capture.
   */
  captureContext(): AsyncContext
  /** Runs `work` once the replies of this turn are written. */
  afterReplies(work: () => void): void
  /**
   * Calls `listener` when the process exits, if the platform has such an exit. Returns a function that removes the
   * listener.
   */
  onExit(listener: () => void): () => void
  /** Returns the host's name, if the host is known to freeze or end a process after its reply. */
  freezingHost(): string | undefined
  /** Returns the host that ends this process some time after its signal, if it is one that can be told. */
  endingHost(): EndingHost | undefined
  /** Returns whether a developer or a test runner runs this process; `undefined` if this runtime does not tell. */
  isTrial(): boolean | undefined
  /** Returns host and process id, for display. Empty if there is neither. */
  processName(): string
  /** Default destination of warnings and errors. */
  readonly defaultLogger: Logger
}

/** A host that limits how long a process may take to stop. */
export interface EndingHost {
  /** Time from the signal to a kill, of which a process learns nothing. Absent if the process exits, and so can log it. */
  readonly limitMs?: number
  /** Sentence without a full stop: what ends the process, and the line that raises its limit. */
  readonly fix: string
}

/** The one host that ends work after its reply even if the work was passed to `waitUntil`. */
export const WORKERS = 'Cloudflare Workers'

/** Returns whether this code runs on Workers, whichever platform's files the bundle has. */
export function isOnWorkers(): boolean {
  return (globalThis as { navigator?: { userAgent?: string } }).navigator?.userAgent === 'Cloudflare-Workers'
}

/** Calls `work` in a captured async context, and returns its result. */
export type AsyncContext = <Args extends unknown[], Result>(
  work: (...args: Args) => Result,
  ...args: Args
) => Result

/** Timeouts of the same length. */
export interface Timeouts {
  readonly ms: number
  set(fire: () => void): Timeout
}

/** One timeout. Like a timer it keeps the process alive until it fires or is cancelled. */
export interface Timeout {
  cancel(): void
}

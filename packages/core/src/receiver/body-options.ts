import { ConfigurationError } from '../errors/errors.ts'
import type { Duration } from '../errors/parse-duration.ts'
import { type BodyBounds, DEFAULT_BOUNDS } from '../events/body-bounds.ts'
import { ReadingBodies } from '../http/reading-bodies.ts'
import { type BodyLimits, DEFAULT_LIMITS } from '../http/request.ts'
import { refuseNull, refuseUnknownNames, show, wholeNumber } from '../lib/check-option.ts'
import { durationMs } from '../lib/duration.ts'

/** Limits on the bodies of requests. */
export interface BodyOptions {
  /** Largest body in bytes, counted as read. Default 1 MiB. */
  readonly limit?: number | undefined
  /**
   * Maximum bytes of all bodies of more than 64 KiB that are being read at one time, as they arrive. Smaller ones are
   * counted: 1,000 at one time, or as many as fit into this. Beyond it, the body that has waited longest for more gets
   * 503, never the newest. Default 64 MiB, or `limit` if that is more.
   */
  readonly totalLimit?: number | undefined
  /** Deepest nesting of objects and arrays in a body; beyond it the reply is 422. Default 1,024. */
  readonly depth?: number | undefined
  /** Maximum number of values in a body, at any depth; beyond it the reply is 422. Default 100,000. */
  readonly values?: number | undefined
  /** Time limit for a body to arrive. Default `'10s'`. */
  readonly timeout?: Duration | undefined
}

/** The option `body`, checked. */
export interface Body {
  readonly bodyLimits: BodyLimits
  readonly bodyBounds: BodyBounds
}

const NAMES = ['limit', 'totalLimit', 'depth', 'values', 'timeout'] satisfies (keyof BodyOptions)[]
const EXAMPLE = '{ limit: 1_048_576 }'
const MAX_BYTES = 1024 ** 3
const TOTAL_BYTES = 67_108_864
const MAX_TIMEOUT_MS = 600_000
const { maxBytes: LIMIT, timeoutMs: TIMEOUT_MS } = DEFAULT_LIMITS
const { maxDepth: DEPTH, maxValues: VALUES } = DEFAULT_BOUNDS

/** Throws {@link ConfigurationError}. */
export function resolveBody(option: BodyOptions = {}): Body {
  if (typeof option !== 'object' || Array.isArray(option))
    throw new ConfigurationError('body', `must be an object such as ${EXAMPLE}; got ${show(option)}`)
  refuseUnknownNames(option, NAMES, 'body', EXAMPLE)
  refuseNull(option, 'body')
  const { limit = LIMIT, totalLimit, depth = DEPTH, values = VALUES, timeout = `${TIMEOUT_MS}ms` } = option
  const maxBytes = wholeNumber('body.limit', limit, 1, MAX_BYTES, 'bytes')
  return {
    bodyLimits: {
      maxBytes,
      timeoutMs: durationMs(timeout, { option: 'body.timeout', minMs: 1, maxMs: MAX_TIMEOUT_MS }),
      reading: readingOf(totalLimit, maxBytes),
    },
    bodyBounds: {
      maxDepth: wholeNumber('body.depth', depth, 3, MAX_BYTES),
      maxValues: wholeNumber('body.values', values, 5, MAX_BYTES),
    },
  }
}

function readingOf(totalLimit: number | undefined, maxBytes: number): ReadingBodies {
  const option = 'body.totalLimit'
  const preset = Math.max(TOTAL_BYTES, maxBytes)
  const most = wholeNumber(option, totalLimit ?? preset, 1, Number.MAX_SAFE_INTEGER, 'bytes')
  if (most >= maxBytes) return new ReadingBodies({ totalBytes: most, largest: maxBytes })
  const fix = `must be at least body.limit, so that the largest event fits; got ${most} with a body.limit of ${maxBytes}`
  throw new ConfigurationError(option, fix)
}

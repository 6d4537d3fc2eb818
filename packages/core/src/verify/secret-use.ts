import type { Logger } from '../observe/logger.ts'
import type { Observers } from '../observe/observers.ts'

const DAY_MS = 86_400_000
/** Longer than a sender usually repeats deliveries that it signed with the old secret. */
const UNUSED_MS = 3 * DAY_MS

export interface SecretUseParts {
  /** Whether the secrets are the same for all requests. Those of many workspaces are observed, and not logged. */
  readonly isFixed: boolean
  readonly clock: () => number
  readonly logger: Logger
  readonly observers: Pick<Observers, 'observe'>
}

/**
 * Tells which secret of a list verifies deliveries during a rotation, so that the old one can be removed. Names secrets by
 * their place in the list, the first being 1.
 */
export class SecretUse {
  readonly #parts: SecretUseParts
  /** Last match of each secret, in milliseconds since the epoch. */
  readonly #lastAt = new Map<number, number>()
  readonly #reported = new Set<number>()
  readonly #startedAt: number

  constructor(parts: SecretUseParts) {
    this.#parts = parts
    this.#startedAt = parts.clock()
  }

  /** Called for each delivery that one of several secrets verified. */
  matched(place: number, of: number): void {
    const { isFixed, clock, observers } = this.#parts
    observers.observe?.({ kind: 'secret_matched', secret: place, of })
    if (!isFixed) return
    const now = clock()
    if (this.#lastAt.size > 0 && !this.#lastAt.has(place)) this.#tellFirst(place, of, now)
    this.#lastAt.set(place, now)
    for (let other = 1; other <= of; other++) this.#tellUnused(other, of, now)
  }

  #tellFirst(place: number, of: number, now: number): void {
    const others = [...this.#lastAt].map(([other, at]) => `secret ${other} was last used ${ago(now - at)}`)
    this.#parts.logger.warn(
      { code: 'secret_matched', secret: place },
      `Secret ${place} of ${of} matched a delivery for the first time since the start; ${others.join(', ')}.`,
    )
  }

  #tellUnused(place: number, of: number, now: number): void {
    if (this.#reported.has(place) || now - (this.#lastAt.get(place) ?? this.#startedAt) < UNUSED_MS) return
    this.#reported.add(place)
    this.#parts.logger.warn(
      { code: 'secret_unused', secret: place },
      `Secret ${place} of ${of} has matched no delivery for ${UNUSED_MS / DAY_MS} days, while another has: remove it if the rotation is over.`,
    )
  }
}

function ago(ms: number): string {
  const hours = Math.max(0, ms) / 3_600_000
  if (hours >= 48) return `${Math.round(hours / 24)} days ago`
  return hours >= 2 ? `${Math.round(hours)} hours ago` : `${Math.round(hours * 60)} minutes ago`
}

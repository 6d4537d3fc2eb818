import type { DeadLetter, Observation } from '@ackhook/core'
import { describeError, isError } from '@ackhook/core/spi'
import { shorten } from '../letters/shorten.ts'
import type { Here, ObservationLine, RefusalCount } from '../protocol/protocol.ts'

/** The event that a text belongs to, for the option `redact`. Empty strings if it belongs to no event. */
export interface RedactedEvent {
  readonly id: string
  readonly type: string
  readonly namespace: string
}

const KEPT = 500
const KEPT_REFUSALS = 100
const KEPT_STACKS = 200
const MAX_STACK = 8192
const MAX_DETAIL = 2048
/** Omitted because every request causes them, and the event's other lines say the same. */
const NOT_KEPT: ReadonlySet<Observation['kind']> = new Set(['secret_matched', 'received', 'attempt_started'])

/** The last observations of one process and the number of refusals by code. Bounded. */
export class Activity {
  readonly #events = new Ring<ObservationLine>(KEPT)
  /** Refusals have their own ring: anyone can cause them, and they must not push out lines about events. */
  readonly #rejected = new Ring<ObservationLine>(KEPT_REFUSALS)
  readonly #refusals = new Map<string, RefusalCount>()
  /** Stacks of dead letters, oldest first. */
  readonly #stacks = new Map<string, { readonly reason: string; readonly stack: string }>()
  readonly #clock: () => number
  #seq = 0

  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** Runs during a delivery: takes constant time and creates short texts only. */
  observe(observation: Observation): void {
    if (NOT_KEPT.has(observation.kind)) return
    const at = this.#clock()
    if (observation.kind === 'rejected') this.#countRefusal(observation, at)
    if (observation.kind === 'dead_lettered') this.#keepStack(observation)
    const ring = observation.kind === 'rejected' ? this.#rejected : this.#events
    ring.push(lineOf(observation, this.#seq++, at))
  }

  /** Passes every text that a handler or a request may have written to `redact`. */
  view(redact: (text: string, event: RedactedEvent) => string): Here {
    const redacted = <T extends Partial<RedactedEvent & { detail: string }>>({ detail, ...line }: T) => {
      const { id = '', type = '', namespace = '' } = line
      return detail === undefined ? line : { ...line, detail: redact(detail, { id, type, namespace }) }
    }
    const observations = [...this.#events.items(), ...this.#rejected.items()].sort((a, b) => b.seq - a.seq)
    const refusals = [...this.#refusals.values()].sort((a, b) => b.lastAt - a.lastAt)
    return { observations: observations.map(redacted), refusals: refusals.map(redacted) }
  }

  /** Returns the stack of a dead letter's error, if it died in this process and has not died elsewhere since. */
  stackOf({ namespace, id, reason }: Pick<DeadLetter, 'namespace' | 'id' | 'reason'>): string | undefined {
    const kept = this.#stacks.get(`${namespace}\n${id}`)
    return kept?.reason === shorten(reason, MAX_DETAIL) ? kept.stack : undefined
  }

  #keepStack({ namespace, id, error }: Extract<Observation, { kind: 'dead_lettered' }>): void {
    const key = `${namespace}\n${id}`
    this.#stacks.delete(key)
    const stack = isError(error) ? error.stack : undefined
    if (typeof stack !== 'string') return
    this.#stacks.set(key, {
      reason: shorten(describeError(error), MAX_DETAIL),
      stack: shorten(stack, MAX_STACK),
    })
    const [oldest] = this.#stacks.keys()
    if (this.#stacks.size > KEPT_STACKS && oldest !== undefined) this.#stacks.delete(oldest)
  }

  #countRefusal({ code, status, detail }: Extract<Observation, { kind: 'rejected' }>, lastAt: number): void {
    const count = (this.#refusals.get(code)?.count ?? 0) + 1
    const text = detail === undefined ? undefined : shorten(detail, MAX_DETAIL)
    this.#refusals.set(code, { code, status, count, lastAt, ...(text !== undefined && { detail: text }) })
  }
}

function lineOf(observation: Observation, seq: number, at: number): ObservationLine {
  const { kind } = observation
  const detail = detailOf(observation)
  return {
    seq,
    at,
    kind,
    ...('id' in observation && {
      id: observation.id,
      type: observation.type,
      namespace: observation.namespace,
    }),
    ...('attempt' in observation && { attempt: observation.attempt }),
    ...('durationMs' in observation && { durationMs: observation.durationMs }),
    ...(detail !== undefined && { detail: shorten(detail, MAX_DETAIL) }),
  }
}

function detailOf(observation: Observation): string | undefined {
  switch (observation.kind) {
    case 'rejected':
      return `${observation.status} ${observation.code}${observation.detail === undefined ? '' : `: ${observation.detail}`}`
    case 'attempt_failed':
    case 'dead_lettered':
    case 'attempt_withdrawn':
    case 'completion_lost':
    case 'failure_lost':
    case 'store_down':
      return describeError(observation.error)
    case 'notice':
      return `${observation.code}: ${observation.message}`
    case 'dropped':
      return `${observation.cause}: ${observation.dead} dead, ${observation.waiting} waiting`
    case 'accepted':
    case 'duplicate':
      return observation.conflict ? 'another body under the same id' : undefined
    default:
      return undefined
  }
}

/** Keeps the last items, up to a fixed number. */
export class Ring<T> {
  readonly #items: T[] = []
  readonly #size: number
  #next = 0

  constructor(size: number) {
    this.#size = size
  }

  push(item: T): void {
    this.#items[this.#next++ % this.#size] = item
  }

  /** Returns the items in no particular order. */
  items(): readonly T[] {
    return this.#items
  }
}

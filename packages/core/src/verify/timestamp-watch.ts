import { platform } from '#platform'
import { Refusal } from '../errors/refusal.ts'
import type { Contract } from '../events/contract.ts'
import { parseEnvelope } from '../events/decode-event.ts'

/** Number of deliveries that make the clock, or the sender, suspect. A single one may be an old one sent again. */
const MANY = 3
/** Other deliveries have passed so lately that this machine's clock is right. */
const LATELY_MS = 3_600_000
/** A first attempt follows its event this soon. */
const NEAR_MS = 60_000
/** Number of outdated events remembered, to recognize their next attempt. */
const MOST_KEPT = 100

/** A genuine delivery outside the tolerance. */
interface Outside {
  readonly timestampMs: number
  readonly nowMs: number
  readonly body: Uint8Array
}

/**
 * Tells the two causes of genuine deliveries outside the tolerance apart. If none passes, and several in a row are on one
 * side, this machine's clock is wrong. If others pass, a `t` as old as the event itself, or one that comes again with the
 * same event, belongs to the first attempt of a delivery that is repeated: by its sender, or by somebody who captured it.
 */
export class TimestampWatch {
  readonly #contract: Contract
  #outsideInARow = 0
  #side: string | undefined
  #passedAt = Number.NEGATIVE_INFINITY
  /** `t` of outdated events by their ids, the latest last. */
  readonly #outdated = new Map<string, number>()
  /** Ids that came with the `t` of their first attempt. */
  readonly #frozen = new Set<string>()

  constructor(contract: Contract) {
    this.#contract = contract
  }

  passed(nowMs: number): void {
    this.#outsideInARow = 0
    this.#passedAt = nowMs
  }

  /** Returns the refusal, or one that names the cause. */
  judge(refusal: Refusal, outside: Outside): Refusal {
    this.#outsideInARow = refusal.code === this.#side ? this.#outsideInARow + 1 : 1
    this.#side = refusal.code
    if (refusal.code === 'timestamp_too_old' && outside.nowMs - this.#passedAt < LATELY_MS)
      return this.#judgeOutdated(refusal, outside)
    if (this.#outsideInARow < MANY) return refusal
    const side = refusal.code === 'timestamp_too_old' ? 'ahead' : 'behind'
    const detail = `${refusal.detail}, as were the last ${this.#outsideInARow} genuine deliveries, and none passed: check this machine's clock, which seems to be ${side} by as much`
    return new Refusal(refusal.code, { detail, level: 'error' })
  }

  #judgeOutdated(refusal: Refusal, { timestampMs, body }: Outside): Refusal {
    const event = parseEnvelope(platform.decodeText(body), this.#contract)
    if (event instanceof Refusal) return refusal
    const { id } = event
    const isRepeated = this.#outdated.get(id) === timestampMs
    const isAsOld = Math.abs(timestampMs - Date.parse(event.created_at)) <= NEAR_MS
    keep(this.#outdated, id, timestampMs)
    if (!isRepeated && !isAsOld) return refusal
    this.#frozen.add(id)
    const sign = isRepeated ? 'has come with this event before' : 'is as old as the event'
    const what = `${refusal.detail}, and ${sign}, while other deliveries are recent: it is the t of a first attempt`
    if (this.#frozen.size < MANY)
      return new Refusal(refusal.code, {
        detail: `${what}, from a sender that does not renew it or from a replay`,
      })
    if (this.#frozen.size > MOST_KEPT) this.#frozen.clear()
    const detail = `${what}, as was that of ${MANY} events or more. If the sender does not renew t when it retries, set tolerance to its whole retry window, and retention to twice that: tolerance: '3d', retention: '7d'`
    return new Refusal(refusal.code, { detail, level: 'error' })
  }
}

function keep(outdated: Map<string, number>, id: string, timestampMs: number): void {
  outdated.delete(id)
  outdated.set(id, timestampMs)
  const [oldest] = outdated.keys()
  if (outdated.size > MOST_KEPT && oldest !== undefined) outdated.delete(oldest)
}

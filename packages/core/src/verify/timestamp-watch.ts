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
 * Tells the two causes of genuine deliveries outside the tolerance apart. A `t` that comes again with the same event, or,
 * while others pass, is as old as the event itself, belongs to the first attempt of a delivery that is repeated: by its
 * sender, or by somebody who captured it. If none passes, and several others in a row are on one side, this machine's
 * clock is wrong.
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
    const hasPassed = outside.nowMs - this.#passedAt < LATELY_MS
    const isOld = refusal.code === 'timestamp_too_old'
    const sign = isOld ? this.#signOfFirstAttempt(outside, hasPassed) : undefined
    if (sign !== undefined) return this.#asFirstAttempt(refusal, sign, hasPassed)
    this.#outsideInARow = refusal.code === this.#side ? this.#outsideInARow + 1 : 1
    this.#side = refusal.code
    if ((isOld && hasPassed) || this.#outsideInARow < MANY) return refusal
    const detail = `${refusal.detail}, as were the last ${this.#outsideInARow} genuine deliveries, and none passed: check this machine's clock, which seems to be ${isOld ? 'ahead' : 'behind'} by as much`
    return new Refusal(refusal.code, { detail, level: 'error' })
  }

  #signOfFirstAttempt({ timestampMs, body }: Outside, hasPassed: boolean): string | undefined {
    const event = parseEnvelope(platform.decodeText(body), this.#contract)
    if (event instanceof Refusal) return undefined
    const { id } = event
    const isRepeated = this.#outdated.get(id) === timestampMs
    keep(this.#outdated, id, timestampMs)
    // By a clock that is ahead, a first attempt has such a t too.
    const isAsOld = hasPassed && Math.abs(timestampMs - Date.parse(event.created_at)) <= NEAR_MS
    if (!isRepeated && !isAsOld) return undefined
    if (this.#frozen.size > MOST_KEPT) this.#frozen.clear()
    this.#frozen.add(id)
    return isRepeated ? 'has come with this event before' : 'is as old as the event'
  }

  #asFirstAttempt(refusal: Refusal, sign: string, hasPassed: boolean): Refusal {
    const others = hasPassed ? 'while other deliveries are recent' : 'and no other delivery has passed lately'
    const what = `${refusal.detail}, and ${sign}, ${others}: it is the t of a first attempt`
    if (this.#frozen.size < MANY) {
      const detail = `${what}, from a sender that does not renew it or from a replay`
      return new Refusal(refusal.code, { detail })
    }
    const detail = `${what}, as was that of ${MANY} events or more. If the sender does not renew t when it retries, set tolerance to its whole retry window, and retention to twice that: tolerance: '3d', retention: '7d'${hasPassed ? '' : ". Check this machine's clock too"}`
    return new Refusal(refusal.code, { detail, level: 'error' })
  }
}

function keep(outdated: Map<string, number>, id: string, timestampMs: number): void {
  outdated.delete(id)
  outdated.set(id, timestampMs)
  const [oldest] = outdated.keys()
  if (outdated.size > MOST_KEPT && oldest !== undefined) outdated.delete(oldest)
}

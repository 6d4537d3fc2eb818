import { Refusal } from '../errors/refusal.ts'

/** Size up to which a body is counted, and never weighed. */
export const SMALL_BYTES = 65_536
/** Most bodies of up to that size that are read at one time. */
const MOST_SMALL = 1000
/** Bytes that a body must bring to count as having moved on: a byte now and then is no progress. */
const STEP_BYTES = 16_384
/** Time between two replies to senders whose bodies were given up, once a second's worth of them was sent at once. */
const SMALL_REPLY_MS = 10
/** Longer, since a sender who comes back brings up to a mebibyte. */
const LARGE_REPLY_MS = 40

/** A body that is being read. */
export interface OpenBody {
  /** Set by {@link ReadingBodies} alone. */
  place: Place | undefined
  /** Ends the reading of this body with a refusal. */
  giveUp(refusal: Refusal): void
}

/**
 * Bodies that a receiver is reading. Nothing is proven about their senders yet, so what a sender declares is worth
 * nothing, and the slowest may not hold what others need:
 *
 * - A body of up to 64 KiB is counted. A larger one is weighed by the bytes that have arrived.
 * - Whenever there are too many small ones, or the large ones weigh too much, the one that has waited longest for its
 *   next 16 KiB is given up: never the one that has just come, however long the others would still be allowed to take.
 *
 * A delivery arrives whole and at once, so the one that waits longest is an attacker's or that of a broken sender.
 */
export class ReadingBodies {
  readonly #maxSmall: number
  readonly #maxBytes: number
  readonly #small = new Row()
  readonly #large = new Row()
  /** Sum of the large bodies. */
  #bytes = 0
  /** Has no place until another body begins: most are complete by then, and never need one. */
  #latest: OpenBody | undefined
  /** Time of the last paced reply, and of each that is still to come. */
  #repliedAt = 0
  readonly #replyAt = new WeakMap<Refusal, number>()

  /** `totalBytes`: most bytes of all large bodies, and of all small ones. `largest`: size of the largest body. */
  constructor({ totalBytes, largest }: { readonly totalBytes: number; readonly largest: number }) {
    this.#maxBytes = totalBytes
    this.#maxSmall = Math.min(MOST_SMALL, Math.floor(totalBytes / Math.min(largest, SMALL_BYTES)))
  }

  /** Begins to count a body. May give up others. */
  begin(body: OpenBody): void {
    const before = this.#latest
    this.#latest = body
    if (before === undefined) return
    this.#small.append(new Place(before))
    this.#makeRoomForSmall()
  }

  /** Counts what has arrived of a body, `length` bytes in all. May give up others, or this one. */
  arrived(body: OpenBody, length: number): void {
    const isLarge = length > SMALL_BYTES
    if (body.place === undefined && !(isLarge && body === this.#latest)) return
    const place = body.place ?? this.#placeLatest(body)
    const row = isLarge ? this.#large : this.#small
    if (place.row !== row || length >= place.nextStep) {
      place.movedOn(length)
      row.append(place)
    }
    if (!isLarge) return
    this.#bytes += length - place.bytes
    place.bytes = length
    this.#makeRoomForLarge()
  }

  /** Stops counting a body. */
  end(body: OpenBody): void {
    if (this.#latest === body) this.#latest = undefined
    if (body.place !== undefined) this.#leave(body.place)
  }

  /**
   * Resolves when the sender of a body that was given up may learn of it. Its memory is free by then, but whoever comes
   * back at once, with hundreds of connections, would keep the process busy with nothing else.
   */
  async turnToReply(refusal: Refusal): Promise<void> {
    const ms = (this.#replyAt.get(refusal) ?? 0) - performance.now()
    if (ms > 0) await new Promise<void>(resolve => setTimeout(resolve, ms))
  }

  #placeLatest(body: OpenBody): Place {
    this.#latest = undefined
    return new Place(body)
  }

  #makeRoomForSmall(): void {
    // The latest body counts as well.
    for (let used = this.#small.length + 1; used > this.#maxSmall; used--)
      this.#giveUp(this.#small, `${used} bodies of up to 64 KiB were being read`)
  }

  #makeRoomForLarge(): void {
    while (this.#bytes > this.#maxBytes)
      this.#giveUp(
        this.#large,
        `larger bodies held ${this.#bytes} of ${this.#maxBytes} bytes (body.totalLimit)`,
      )
  }

  /** Gives up the body that has waited longest in a row. */
  #giveUp(row: Row, reason: string): void {
    const place = row.first
    if (place === undefined) return
    this.#leave(place)
    const now = performance.now()
    const seconds = ((now - place.since) / 1000).toFixed(1)
    const detail = `given up after ${seconds} s without progress: ${reason}, and none had waited longer`
    const refusal = new Refusal('too_many_bodies', { detail })
    this.#repliedAt =
      Math.max(this.#repliedAt, now - 1000) + (row === this.#small ? SMALL_REPLY_MS : LARGE_REPLY_MS)
    this.#replyAt.set(refusal, this.#repliedAt)
    place.body.giveUp(refusal)
  }

  #leave(place: Place): void {
    place.row?.remove(place)
    place.body.place = undefined
    this.#bytes -= place.bytes
  }
}

/** Place of a body in a row. */
class Place {
  readonly body: OpenBody
  /** Bytes of it in the sum of large bodies. */
  bytes = 0
  /** Length at which it has moved on again. */
  nextStep: number = STEP_BYTES
  since: number = performance.now()
  row: Row | undefined
  earlier: Place | undefined
  later: Place | undefined

  constructor(body: OpenBody) {
    this.body = body
    body.place = this
  }

  movedOn(length: number): void {
    this.nextStep = length + STEP_BYTES
    this.since = performance.now()
  }
}

/** Bodies in the order in which they last moved on, in a linked list: any of them may leave at any time. */
class Row {
  first: Place | undefined
  #last: Place | undefined
  length = 0

  /** Appends a place, which leaves its former row. */
  append(place: Place): void {
    place.row?.remove(place)
    place.row = this
    place.earlier = this.#last
    if (this.#last === undefined) this.first = place
    else this.#last.later = place
    this.#last = place
    this.length++
  }

  remove(place: Place): void {
    const { earlier, later } = place
    if (earlier === undefined) this.first = later
    else earlier.later = later
    if (later === undefined) this.#last = earlier
    else later.earlier = earlier
    place.row = place.earlier = place.later = undefined
    this.length--
  }
}

export type { Place }

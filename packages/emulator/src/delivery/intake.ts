import { shuffleSome } from '@ackhook/testing/spi'
import { type Endpoints, refusalOf } from '../endpoints/endpoints.ts'
import { EmulatorError } from '../errors/emulator-error.ts'
import { categoryOf, type OutgoingEvent } from '../events/event-input.ts'
import type { ResolvedFaults } from '../lib/fault-settings.ts'
import { addMarks, type DeliveryRow, type NewDelivery } from '../storage/delivery-row.ts'
import type { Storage } from '../storage/storage.ts'
import { decisionRandom, type FaultSource } from './fault-source.ts'
import type { DeliveryCounts, LogRoom } from './log-room.ts'

/** Longest delay that puts a single event out of order. */
const HELD_BACK_MS = 2000
const DRAWS = 'draws'

/** Events of one call. */
export interface Arrival {
  readonly workspace: string
  readonly events: readonly OutgoingEvent[]
  /** Faults for these events only, as JSON. */
  readonly faults: string | null
  /** Id of the message that the events are about. */
  readonly message: string | null
  /** Name of the batch that sends them. */
  readonly batch: string | null
}

/** Settings shared by all events of a call. */
interface Terms {
  /** Number of the first draw. */
  readonly first: number
  readonly faults: ResolvedFaults
  readonly now: number
  /** Start of the first attempt, before delays. */
  readonly at: number
  /** `true` if there is room for deliberate duplicates. */
  readonly duplicates: boolean
}

interface IntakeParts {
  readonly storage: Storage
  readonly endpoints: Endpoints
  readonly counts: DeliveryCounts
  readonly faults: FaultSource
  readonly seed: () => number
  readonly maxOpen: number
  readonly room: LogRoom
}

/** Accepts events: all deliveries of a call are stored before the reply. */
export class Intake {
  readonly #parts: IntakeParts
  constructor(parts: IntakeParts) {
    this.#parts = parts
  }

  /** Returns the deliveries in the order of the events. Throws `EmulatorError` if too many are open. */
  accept(arrival: Arrival, now: number): readonly (readonly DeliveryRow[])[] {
    const { storage, endpoints } = this.#parts
    endpoints.requireWorkspace(arrival.workspace)
    this.requireRoom(
      arrival.events.length,
      arrival.events.reduce((sum, { body }) => sum + body.length, 0),
    )
    const faults = this.#parts.faults.of(arrival.faults)
    const rows = storage.transaction(() => this.#acceptAll(arrival, faults, now))
    for (const row of rows.flat()) this.#parts.counts.add(row.state)
    return rows
  }

  #acceptAll(arrival: Arrival, faults: ResolvedFaults, now: number): readonly (readonly DeliveryRow[])[] {
    const { events } = arrival
    const first = this.nextDraw(events.length)
    const random = decisionRandom(this.#parts.seed(), `call ${first}`)
    const order = shuffleSome([...events.keys()], faults.disorder, random)
    const isShuffled = order.some((index, position) => index !== position)
    const startAt = new Map(order.map((index, position) => [index, now + position - order.length]))
    const { counts, maxOpen } = this.#parts
    // Room for deliberate duplicates after every event has its delivery.
    let spare = maxOpen - counts.open - events.length
    return events.map((_, index) => {
      // All are due, in the shuffled order.
      const at = isShuffled ? (startAt.get(index) ?? now) : now
      const rows = this.#acceptOne(arrival, index, { first, faults, now, at, duplicates: spare > 0 })
      spare -= rows.length - 1
      return rows
    })
  }

  /** Throws if `count` more deliveries, or `bytes` more bytes, would exceed a limit. */
  requireRoom(count: number, bytes = 0): void {
    const { counts, maxOpen, room } = this.#parts
    if (room.isFullFor(bytes)) {
      throw new EmulatorError(
        'undelivered_full',
        `pending and undelivered deliveries fill the log (${room.maxBytes} bytes): replay or discard some`,
      )
    }
    if (counts.open + count <= maxOpen) return
    throw new EmulatorError(
      'undelivered_full',
      `${counts.open} events are pending or undelivered, and the limit is ${maxOpen}: replay or discard some`,
    )
  }

  /** Reserves `count` draw numbers and returns the first. Numbering survives a restart. */
  nextDraw(count = 1): number {
    const { storage } = this.#parts
    const next = Number(storage.meta(DRAWS) ?? 0) + 1
    storage.setMeta(DRAWS, String(next + count - 1))
    return next
  }

  /** Restarts draw numbering. */
  reset(): void {
    this.#parts.storage.setMeta(DRAWS, '0')
  }

  /** Returns how late an event starts. A message's event overtakes the earlier ones that still wait. */
  #heldBackMs(message: string | null, now: number, draw: number): number {
    if (message === null) return draw * HELD_BACK_MS
    const next = this.#parts.storage.deliveries.nextOf(message)
    return next === undefined ? HELD_BACK_MS : Math.max(0, (next - now) / 2)
  }

  #acceptOne(
    { workspace, events, faults: own, message, batch }: Arrival,
    index: number,
    { first, faults, now, at, duplicates }: Terms,
  ): readonly DeliveryRow[] {
    const { deliveries } = this.#parts.storage
    const { id, type, body } = events[index] as OutgoingEvent
    const category = categoryOf(type)
    const draw = String(first + index)
    const random = decisionRandom(this.#parts.seed(), draw)
    const endpoint = this.#parts.endpoints.find(workspace)
    const refusal =
      endpoint === undefined
        ? `the workspace ${workspace} has no endpoint`
        : refusalOf(endpoint, type, category)
    const isDropped =
      refusal === undefined && decisionRandom(this.#parts.seed(), `${draw} dark`)() < faults.dark
    const reason = isDropped ? 'dropped: the platform was dark' : refusal
    const isHeldBack = events.length === 1 && random() < faults.disorder
    const heldBackMs = isHeldBack ? this.#heldBackMs(message, now, random()) : 0
    const startAt = at + heldBackMs + random() * faults.delayMs
    const one: NewDelivery = {
      ...{
        workspace,
        event_id: id,
        type,
        category,
        body,
        message,
        faults: own,
        batch,
        created_at: now,
        draw,
      },
      kind: 'event',
      state: reason === undefined ? 'pending' : 'skipped',
      next_at: reason === undefined ? Math.floor(startAt) : null,
      ...(reason !== undefined && { reason }),
      ...(isDropped && { marks: addMarks('', ['dropped']) }),
    }
    const row = deliveries.insert(one)
    const isTwice = reason === undefined && random() < faults.concurrentDuplicate && duplicates
    if (!isTwice) return [row]
    return [
      row,
      deliveries.insert({ ...one, kind: 'duplicate', origin: row.id, draw: `${draw} same moment` }),
    ]
  }
}

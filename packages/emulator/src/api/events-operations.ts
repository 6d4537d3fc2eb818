import { DEFAULT_WORKSPACE } from '../endpoints/endpoints.ts'
import { EmulatorError, invalid } from '../errors/emulator-error.ts'
import { toOutgoingEvent } from '../events/event-input.ts'
import { resolveEmulatorFaults } from '../lib/fault-settings.ts'
import { asRequest, readAll } from '../lib/read-fields.ts'
import { toInstant } from '../lib/time.ts'
import type { EmulatorFaults } from '../shapes/faults.ts'
import {
  EVENTS,
  type EventFields,
  type EventsOptions,
  type EventToSend,
  SEND,
  type SendOptions,
} from '../shapes/requests.ts'
import { LIMITS } from '../shapes/settings.ts'
import { toDeliveryView } from './delivery-view.ts'
import type { ListedEvent, SentEvent } from './emulator-api.ts'
import type { Parts } from './parts.ts'

/** Accepts events. */
export class EventsOperations {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async send(type: string, overrides: EventFields = {}, options: SendOptions = {}): Promise<SentEvent> {
    return this.sendOne({ ...overrides, type }, options, null)
  }

  async sendAll(events: readonly EventToSend[], options: SendOptions = {}): Promise<readonly SentEvent[]> {
    return this.#accept(events, options, null)
  }

  /** Accepts one event. `message` is the id of the message that the event is about. */
  sendOne(event: object, options: SendOptions, message: string | null): SentEvent {
    const [sent] = this.#accept([event], options, message)
    if (sent === undefined) throw new EmulatorError('internal', 'an event was accepted without a delivery')
    return sent
  }

  /** Accepts events of a batch, which its name finds. */
  sendInBatch(events: readonly EventToSend[], options: SendOptions, batch: string): void {
    this.#accept(events, options, null, batch)
  }

  /** Lists each event once, oldest first. */
  async list(
    options: EventsOptions = {},
  ): Promise<{ readonly events: readonly ListedEvent[]; readonly next: string | null }> {
    const { storage, clock } = this.#parts
    const { since, limit = 50, after, ...filter } = readAll(EVENTS, options, 'options', clock.now())
    const wanted = { ...filter, ...(since !== undefined && { from: since }) }
    const rows = storage.query.events(wanted, { limit: limit + 1, ...(after !== undefined && { after }) })
    const shown = rows.slice(0, limit)
    const next = rows.length > shown.length ? String(shown.at(-1)?.seq) : null
    const events = shown.map(({ seq, event_id: id, type, created_at }) => {
      const body = Buffer.from(storage.deliveries.bodyOf(seq)).toString('utf8')
      return { id, type, createdAt: toInstant(created_at), body }
    })
    return { events, next }
  }

  #accept(
    events: readonly object[],
    options: SendOptions,
    message: string | null,
    batch: string | null = null,
  ): readonly SentEvent[] {
    const { clock, intake, engine } = this.#parts
    const { rules } = this.#parts.options
    const { workspace = DEFAULT_WORKSPACE, faults } = readAll(SEND, options, 'options')
    if (!Array.isArray(events) || events.length < 1 || events.length > LIMITS.eventsPerCall) {
      throw invalid('events', `must be a list of 1 to ${LIMITS.eventsPerCall} events`)
    }
    const now = clock.now()
    const arrival = {
      workspace,
      events: events.map(event => toOutgoingEvent(event, now, rules.fields)),
      faults: faultsText(faults),
      message,
      batch,
    }
    const deliveries = intake.accept(arrival, now)
    for (const { seq } of deliveries.flat()) this.#parts.changed(seq)
    // The caller gets the ids before a receiver gets the events.
    setImmediate(() => engine.startDue())
    return arrival.events.map(({ id }, index) => ({
      id,
      deliveries: (deliveries[index] ?? []).map(toDeliveryView),
    }))
  }
}

function faultsText(faults: EmulatorFaults | undefined): string | null {
  if (faults === undefined) return null
  asRequest(() => resolveEmulatorFaults(faults))
  return JSON.stringify(faults)
}

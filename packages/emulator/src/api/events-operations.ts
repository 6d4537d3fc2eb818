import { DEFAULT_WORKSPACE } from '../endpoints/endpoints.ts'
import { EmulatorError, invalid } from '../errors/emulator-error.ts'
import { toOutgoingEvent } from '../events/event-input.ts'
import { resolveEmulatorFaults } from '../lib/fault-settings.ts'
import { asRequest, readAll } from '../lib/read-fields.ts'
import type { EmulatorFaults } from '../shapes/faults.ts'
import { type EventFields, type EventToSend, SEND, type SendOptions } from '../shapes/requests.ts'
import { LIMITS } from '../shapes/settings.ts'
import { toDeliveryView } from './delivery-view.ts'
import type { SentEvent } from './emulator-api.ts'
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

  #accept(events: readonly object[], options: SendOptions, message: string | null): readonly SentEvent[] {
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

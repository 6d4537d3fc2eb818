import { ControlOperations } from './control-operations.ts'
import { DeliveryOperations } from './delivery-operations.ts'
import type { EmulatorApi } from './emulator-api.ts'
import { EndpointOperations } from './endpoint-operations.ts'
import { EventsOperations } from './events-operations.ts'
import { MessageOperations } from './message-operations.ts'
import type { Parts } from './parts.ts'

/** Creates the emulator's API from its operations. */
export function createApi(parts: Parts): EmulatorApi {
  const events = new EventsOperations(parts)
  const control = new ControlOperations(parts)
  const { deliveries } = new DeliveryOperations(parts)
  const { workspaces, endpoints } = new EndpointOperations(parts)
  const { messages } = new MessageOperations(parts, events)
  return {
    ...{ deliveries, workspaces, endpoints, messages },
    clock: control.clock,
    faults: control.faults,
    send: (type, overrides, options) => events.send(type, overrides, options),
    sendAll: (list, options) => events.sendAll(list, options),
    health: () => control.health(),
    settings: () => control.settings(),
    stats: options => control.stats(options),
    wait: (options, signal) => control.wait(options, signal),
    reset: options => control.reset(options),
  }
}

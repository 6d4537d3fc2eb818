import type { EmulatorApi } from '../api/emulator-api.ts'
import type { EmulatorFaults } from '../shapes/faults.ts'
import type {
  BulkOptions,
  DeliverySelection,
  EndpointChange,
  EventFields,
  PageOptions,
  ReplayOptions,
  SendOptions,
  WaitOptions,
} from '../shapes/requests.ts'
import type { EmulatorOptions } from './emulator-options.ts'

/** The same options, each `undefined`. */
type Undefined<Options> = { readonly [Name in keyof Options]-?: undefined }
type Group<Name extends keyof EmulatorOptions> = NonNullable<EmulatorOptions[Name]>

declare function takes<Options>(options: Options): void

/** A conditional expression may leave an option `undefined`. */
export function eachMayBeUndefined(
  options: Undefined<EmulatorOptions>,
  delivery: Undefined<Group<'delivery'>>,
  health: Undefined<Group<'health'>>,
  retention: Undefined<Group<'retention'>>,
  messageReply: Undefined<Group<'messageReply'>>,
  faults: Undefined<EmulatorFaults>,
): void {
  takes<EmulatorOptions>(options)
  takes<EmulatorOptions>({ delivery, health, retention, messageReply, faults })
}

export function ofEachCallToo(
  api: EmulatorApi,
  selection: Undefined<DeliverySelection>,
  page: Undefined<PageOptions>,
  fields: Undefined<EventFields>,
  send: Undefined<SendOptions>,
  replay: Undefined<ReplayOptions>,
  bulk: Undefined<BulkOptions>,
  wait: Undefined<WaitOptions>,
  endpoint: Undefined<EndpointChange>,
): void {
  void api.deliveries.list(selection, page)
  void api.send('call.started', fields, send)
  void api.deliveries.replay('dlv_1', replay)
  void api.deliveries.replayMatching(bulk)
  void api.wait(wait)
  void api.endpoints.put(endpoint)
  void api.endpoints.rotateSecret({ secret: undefined, overlap: undefined })
  void api.stats({ ...selection, buckets: undefined })
  void api.messages.receive({ channel: undefined, from: '+49', text: 'x' })
  void api.reset({ everything: undefined })
}

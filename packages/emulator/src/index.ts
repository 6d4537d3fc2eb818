export type {
  AttemptView,
  BytesView,
  DeliveryDetail,
  DeliveryView,
  SavedRequest,
} from './api/delivery-view.ts'
export type {
  BulkOptions,
  BulkResult,
  DeliverySelection,
  EmulatorApi,
  EmulatorHealth,
  EndpointResult,
  EventFields,
  EventToSend,
  PageOptions,
  ReplayOptions,
  SendOptions,
  SentEvent,
  SettingsView,
  StatsBucket,
  StatsView,
  WaitOptions,
  WaitResult,
  WorkspaceView,
} from './api/emulator-api.ts'
export type { EndpointView, HealthView } from './endpoints/endpoint-view.ts'
export type { EndpointChange } from './endpoints/endpoints.ts'
export { EmulatorError, type EmulatorErrorCode } from './errors/emulator-error.ts'
export type { Maybe } from './lib/read-fields.ts'
export type { MessageState, MessageView } from './messages/message-view.ts'
export type { InboundMessage } from './messages/read-message.ts'
export type { EmulatorFaults, EmulatorOptions } from './options/emulator-options.ts'
export type { SettingView } from './options/settings.ts'
export type { Emulator } from './start-emulator.ts'
export { startEmulator } from './start-emulator.ts'
export type { DeliveryKind, DeliveryState } from './storage/delivery-row.ts'
